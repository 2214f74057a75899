import { afterEach, beforeEach, it } from 'vitest';
import { createCartonSandbox, hostileCarton, testedToml, type CartonSandbox, type HostileParts, verbs, soundFiles } from '../support/hostile-carton.js';
import { listComplaints } from '../support/hostile-verbs.js';
let sandbox: CartonSandbox;
beforeEach(() => { sandbox = createCartonSandbox(); });
afterEach(() => sandbox.close());
const index = (rows: string) => ({ files: { 'tensor_data/index.toml': rows } });
const row = (more: string) => index(`[[tensor]]\nname = "x"\n${more}`);
const cases: [string, HostileParts][] = [
  ['CR', { manifest: (t) => t.replaceAll('\n', '\r\n') }],
  ['blanks', { manifest: (t) => t.replaceAll('=', ' = ') }],
  ['upper', { manifest: (t) => t.replace(/=.*/g, (x) => x.toUpperCase()) }],
  ['dup same', { manifest: (t) => t + t.split('\n')[1] + '\n' }],
  ['dup other', { manifest: (t) => t + 'model/a=' + '0'.repeat(64) + '\n' }],
  ['order', { manifest: (t) => t.split('\n').slice(0, -1).toReversed().join('\n') + '\n' }],
  ['nl path', { manifest: (t) => 'model/\n' + t }],
  ['self', { manifest: (t) => `MANIFEST=${'0'.repeat(64)}\n` + t }],
  ['short', { manifest: (t) => t.replace(/[0-9a-f]{10}\n/, '\n') }],
  ['utf8', { manifest: (t) => Buffer.concat([Buffer.from(t), Buffer.from([0xff, 10])]) }],
  ['bom', { manifest: (t) => '\ufeff' + t }],
  ['nonl', { manifest: (t) => t.slice(0, -1) }],
  ['hash', { manifest: (t) => t.replace(/model\/a=../, 'model/a=00') }],
  ['missing', { promised: { 'model/b': 'x' } }],
  ['unlisted', { members: [{ name: 'model/evil', content: 'x' }] }],
  ['misc missing', { promised: { 'misc/b': 'x' } }],
  ['unknown tensor', { files: { 'carton.toml': testedToml.replaceAll('@tensor_data/x', '@tensor_data/none') } }],
  ['shape', row('dtype = "float32"\nshape = [3]\nfile = "x.bin"\ninner = []\n')],
  ['giant', row('dtype = "float32"\nshape = [9007199254740991, 9007199254740991]\nfile = "x.bin"\n')],
  ['i64', row('dtype = "float32"\nshape = [9223372036854775807]\nfile = "x.bin"\n')],
  ['neg', row('dtype = "float32"\nshape = [-2]\nfile = "x.bin"\n')],
  ['zero giant', row('dtype = "float32"\nshape = [0, 4294967296]\nfile = "x.bin"\n')],
  ['file out', row('dtype = "float32"\nshape = [2]\nfile = "../../../neighbour/secret"\n')],
  ['file abs', row('dtype = "float32"\nshape = [2]\nfile = "/etc/passwd"\n')],
  ['file model', row('dtype = "uint8"\nshape = [5]\nfile = "../model/a"\n')],
  ['nested self', row('dtype = "nested"\ninner = ["x"]\n')],
  ['symbols', { files: { 'carton.toml': testedToml.replace('[[output]]', '[[input]]\nname = "y"\ndtype = "float32"\nshape = ["n"]\n\n[[output]]').replace('x = "@tensor_data/x" }\nexp', 'x = "@tensor_data/x", y = "@tensor_data/y" }\nexp'), 'tensor_data/index.toml': soundFiles['tensor_data/index.toml'] + '\n[[tensor]]\nname = "y"\ndtype = "float32"\nshape = [1]\nfile = "y.bin"\ninner = []\n', 'tensor_data/y.bin': Buffer.alloc(4) } }],
  ['deep toml', { files: { 'carton.toml': testedToml + `\nx = ${'['.repeat(100000)}${']'.repeat(100000)}\n` } }],
  ['deep dotted', { files: { 'carton.toml': testedToml + `\n${'a.'.repeat(100000)}b = 1\n` } }],
  ['many dotted', { files: { 'carton.toml': testedToml + Array.from({ length: 20000 }, (_, i) => `k${i} = {a = ${i}}\n`).join('') } }],
  ['large toml', { files: { 'carton.toml': testedToml + '#'.repeat(2e6) } }],
  ['deep index', index(`tensor = ${'['.repeat(100000)}${']'.repeat(100000)}\n`)],
  ['no manifest', { replaced: { MANIFEST: { name: 'other', content: '' } } }],
  ['proto', { files: { 'carton.toml': testedToml.replaceAll('x', '__proto__') } }],
  ['links self', { files: { LINKS: { link: 'LINKS' } } }],
  ['toml link', { files: { 'carton.toml': { link: 'model/t' }, 'model/t': testedToml } }],
];
it.each(cases)('%s', async (name, parts) => {
  sandbox.put(hostileCarton(parts));
  const since = performance.now();
  const out = await sandbox.tryAll();
  console.log(name + ' ' + Math.round(performance.now() - since) + '\n' + verbs.map((v) => `  ${v}: ${out[v].kind} ${listComplaints(out[v]).join(' | ').replaceAll(sandbox.base + '/given/', '').slice(0, 400)} ${v === 'test' && out[v].kind === 'result' ? JSON.stringify((out[v] as { result: { cases: unknown } }).result.cases).slice(0, 300) : ''}`).join('\n'));
});
