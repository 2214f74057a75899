import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { it } from 'vitest';
const open = fs.open;
const live = new Map<object, string>();
(fs as any).open = async (...a: any[]) => { const stack = new Error(String(a[0])).stack!; const h = await (open as any)(...a); live.set(h, stack); h.on?.('close', () => live.delete(h)); return h; };
syncBuiltinESMExports();
import { createWorkbench, tinyModel } from '../support/workbench.js';
it('leak', async () => {
  const { pack, validate, verify, inspect, unpack, list, ls } = await import('../../src/ops/index.js');
  const bench = createWorkbench();
  const dir = bench.write('m', tinyModel);
  const say = (what: string) => { for (const s of live.values()) console.log('LIVE after', what, s); live.clear(); };
  const ctx = () => bench.context();
  for (const [vintage, layers] of [['cncf','raw'],['cncf','tar'],['cncf','tar+gzip'],['cncf','tar+zstd'],['draft-2024','tar+gzip']] as const) {
    await pack({ dir, format: 'modelpack', vintage, layers: [layers], name: 'a:b' }, ctx()); await new Promise((r) => setTimeout(r, 50)); say('pack' + layers);
    await validate({ location: 'a:b' }, ctx()); await new Promise((r) => setTimeout(r, 50)); say('validate' + layers);
    await verify({ location: 'a:b' }, ctx());await new Promise((r) => setTimeout(r, 50)); say('verify' + layers);
    await inspect({ location: 'a:b' }, ctx());await new Promise((r) => setTimeout(r, 50)); say('inspect' + layers);
    await unpack({ location: 'a:b', output: bench.path('out' + vintage+ layers) }, ctx());await new Promise((r) => setTimeout(r, 50)); say('unpack' + layers);
    await ls({ location: 'a:b', digests: true }, ctx());await new Promise((r) => setTimeout(r, 50)); say('ls' + layers);
    await list({ }, ctx());await new Promise((r) => setTimeout(r, 50)); say('list' + layers);
  }
  bench.close();
});
