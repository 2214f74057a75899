import { it } from 'vitest';
import { pack, validate, verify, inspect } from '../../src/ops/index.js';
import { createWorkbench, tinyModel } from '../support/workbench.js';
import { writeFileSync } from 'node:fs';
it('probe', async () => {
  const bench = createWorkbench();
  const dir = bench.write('m', tinyModel);
  for (const vintage of ['cncf', 'cnai', 'draft-2024']) for (const layers of ['raw', 'tar', 'tar+gzip', 'tar+zstd']) {
    try {
      const context = bench.context();
      const r = await pack({ dir, format: 'modelpack', vintage, layers: [layers], name: 'a:b' }, context);
      const v = await validate({ location: 'a:b' }, bench.context());
      const w = await verify({ location: 'a:b' }, bench.context());
      console.log(vintage, layers, r.digest.slice(0, 20), JSON.stringify(r.findings), JSON.stringify(v), JSON.stringify(w), context.counters);
    } catch (e) { console.log(vintage, layers, (e as any).code, (e as Error).message); }
  }
  writeFileSync(bench.path('m/big.safetensors'), Buffer.alloc(5_000_000, 7));
  const c = bench.context();
  const r = await pack({ dir, format: 'modelpack', name: 'a:c' }, c).catch((e) => e);
  console.log(r.message ?? r.findings, c.counters);
  const d = bench.context();
  await pack({ dir: '/work/main/examples/digits', format: 'modelpack', name: 'a:d' }, d);
  console.log(d.counters);
  const e = bench.context();
  const rr = await pack({ dir: '/work/main/examples/digits', format: 'modelpack', name: 'a:d' }, e);
  console.log(e.counters, rr.bytes, JSON.stringify(rr.findings));
  bench.close();
});
