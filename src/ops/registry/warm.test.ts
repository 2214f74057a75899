import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createRegistryBench, type RegistryBench } from '../../../test/support/registry-bench.js';
import { openLayout } from '../../store/index.js';
import { push } from '../push.js';
import { pack } from '../pack.js';
import { verify } from '../verify.js';
import { warmRegistry, type WarmOptions } from './warm.js';

let bench: RegistryBench;
let name: string;
beforeEach(async () => {
  bench = await createRegistryBench();
  ({ name } = bench);
});
afterEach(() => bench.end());

const warm = (options: Partial<WarmOptions> = {}) => warmRegistry({ names: [name], dir: 'mirror', ...options }, bench.context());
const openMirror = () => openLayout(bench.path('mirror'));

it('brings a package from its registry under the name without host', async () => {
  const { digest } = await push({ source: bench.path('tiny'), destination: name }, bench.context());
  expect(await warm()).toMatchObject({ packages: [{ name: 'tiny:v1', digest, skipped: 0 }] });
  expect((await (await openMirror()).list()).map((root) => root.name)).toEqual(['tiny:v1']);
  expect(await verify({ location: `oci:${bench.path('mirror')}:tiny:v1` }, bench.context())).toMatchObject({ ok: true });
});

it('a second time asks for manifests only', async () => {
  await push({ source: bench.path('tiny'), destination: name }, bench.context());
  const first = await warm();
  const requests = await bench.requestsOf(async () => expect(await warm()).toEqual(first));
  expect(requests.length).toBeGreaterThan(0);
  expect(requests.filter(({ path }) => path.includes('/blobs/'))).toHaveLength(0);
});

it('gives the package of a file the name that was written', async () => {
  const { digest } = await pack({ dir: bench.path('tiny'), format: 'modelpack', output: bench.path('x.tar') }, bench.context());
  expect(await warm({ from: 'x.tar', names: ['ghcr.io/team/tiny:v2'] })).toMatchObject({ packages: [{ name: 'team/tiny:v2', digest }] });
  expect(bench.registry.log).toEqual([]);
});

it('with patterns leaves the other layers where they are, and the name stands all the same', async () => {
  const { digest } = await push({ source: bench.path('tiny'), destination: name }, bench.context());
  const whole = await warm({ dir: 'whole' });
  const { packages } = await warm({ include: ['*.json'] });
  const [part, all] = [packages[0], whole.packages[0]];
  expect(part).toMatchObject({ name: 'tiny:v1', digest });
  expect(part?.skipped).toBeGreaterThan(0);
  expect((part?.blobs ?? 0) + (part?.skipped ?? 0)).toBe(all?.blobs);
  const mirror = await openMirror();
  expect(await mirror.resolve('tiny:v1')).toMatchObject({ digest });
  const sizes = await Promise.all([`oci:${bench.path('mirror')}:tiny:v1`, `oci:${bench.path('whole')}:tiny:v1`].map(countProblems));
  expect(sizes).toEqual([part?.skipped, 0]);
});

async function countProblems(location: string): Promise<number> {
  return (await verify({ location }, bench.context())).problems.length;
}

it.each<[why: string, options: Partial<WarmOptions>, code: string]>([
  ['a pattern matches nothing', { include: ['*.json', 'nope-*'] }, 'ops/path-not-found'],
  ['a pattern leads out', { include: ['../x'] }, 'buildfile/bad-glob'],
  ['the name has no host', { names: ['tiny:v1'] }, 'core/bad-reference'],
  ['the name is a digest', { names: [`localhost/tiny@sha256:${'a'.repeat(64)}`] }, 'core/bad-reference'],
  ['one package would get two names', { names: ['a.b/x:1', 'a.b/x:2'], from: 'x.tar' }, 'ops/bad-option'],
  ['it comes from a bare folder', { from: './tiny' }, 'format/unsupported'],
  ['there is no such file', { from: 'none.tar' }, 'store/name-not-found'],
  ['the folder is something else', { dir: 'tiny' }, 'store/not-a-layout'],
])('is refused when %s, and nothing is written', async (_, options, code) => {
  await push({ source: bench.path('tiny'), destination: name }, bench.context());
  await expect(warm(options)).rejects.toMatchObject({ code });
  expect(existsSync(bench.path('mirror'))).toBe(false);
});

it('is refused when the registry does not have it', async () => {
  await expect(warm()).rejects.toMatchObject({ code: 'registry/not-found' });
  expect(existsSync(bench.path('mirror'))).toBe(false);
});
