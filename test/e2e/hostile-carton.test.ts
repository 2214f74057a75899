import { afterEach, beforeEach, it } from 'vitest';
import { deflateRawSync } from 'node:zlib';
import { createCartonSandbox, hostileCarton, type CartonSandbox, type HostileParts, verbs } from '../support/hostile-carton.js';
import { listComplaints } from '../support/hostile-verbs.js';
import { numbers, oddExtra, zip64Extra } from '../support/odd-zip.js';
let sandbox: CartonSandbox;
beforeEach(() => { sandbox = createCartonSandbox(); });
afterEach(() => sandbox.close());
const file = (name: string | Uint8Array, more = {}) => ({ name, content: 'x', ...more });
const link = (name: string, content: string) => ({ name, content, mode: 0o120777 });
const zeros = Buffer.alloc(100e6);
const cases: [string, HostileParts][] = [
  ['sound', {}],
  ['A1', { members: [file('../../x')] }],
  ['A1 promised', { promised: { '../../x': 'x' } }],
  ['A1 link via LINKS', { promised: { '../../x': 'x' }, files: { LINKS: 'version = 1\n[urls]\n2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881 = ["https://x.example/"]\n' } }],
  ['A3', { members: [link('l', '../../neighbour'), file('l/secret')] }],
  ['A3 link out', { files: { 'model/l': { link: '../../../neighbour/secret' } }, manifest: (t) => t }],
  ['A6 loop', { members: [link('model/s', 't'), link('model/t', 's')] }],
  ['dir link', { members: [link('model/d', 'sub'), file('model/sub/x')] }],
  ['A9 dup', { members: [file('model/a')] }],
  ['A10', { files: { 'model/A': 'x' } }],
  ['zero', { replaced: { 'model/a': { name: 'model/a', method: 8, content: deflateRawSync(zeros), size: 5 , crc32: 1} } }],
];
it.each(cases)('%s', async (name, parts) => {
  sandbox.put(hostileCarton(parts));
  const out = await sandbox.tryAll();
  console.log(name + '\n' + verbs.map((v) => `  ${v}: ${out[v].kind} ${listComplaints(out[v]).join(' | ').slice(0, 600)}`).join('\n'));
});
