/** pull: into the store, or the files straight to their place. */
import { existsSync, statSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { pull } from '../../src/ops/index.js';
import { createCounters } from '../../src/core/index.js';
import { createRegistryBench, type RegistryBench } from '../support/registry-bench.js';
import { listFiles, readTree, tinyModel, toTree } from '../support/workbench.js';
import { rmSync } from 'node:fs';

let bench: RegistryBench;
let digest: string;
beforeAll(async () => {
  bench = await createRegistryBench();
  ({ digest } = (await bench.json('push', './tiny', bench.name)).document);
});
afterAll(() => bench.end());
beforeEach(() => rmSync(bench.home, { recursive: true, force: true }));
afterEach(() => rmSync(bench.path('out'), { recursive: true, force: true }));

it('to the store', async () => {
  const { code, document } = await bench.json('pull', bench.name);
  expect([code, document]).toMatchObject([
    0,
    { digest, name: bench.name, path: null, copied: [{ name: bench.name, digest }], findings: [], lost: [] },
  ]);
  expect(document).not.toHaveProperty('files');
  const offline = await bench.requestsOf(async () => {
    expect(await bench.json('verify', bench.name)).toMatchObject({ code: 0, document: { ok: true } });
    expect((await bench.json('list')).document.packages).toMatchObject([{ name: bench.name, digest }]);
  });
  expect(offline).toEqual([]);
  expect((await bench.json('pull', bench.name)).document).toMatchObject({ bytes: { sent: 0 } });
});

it('to a folder: nothing but the files is written, each byte once', async () => {
  const counters = createCounters();
  const { bytes, files } = await pull({ name: bench.name, output: './out' }, bench.context({ counters }));
  expect(files).toBe(9);
  expect(readTree(bench.path('out'))).toEqual(toTree(tinyModel));
  expect([counters.written, existsSync(`${bench.home}/blobs`)]).toEqual([bytes.total, false]);
});

it('by digest', async () => {
  const byDigest = `${bench.registry.host}/tiny@${digest}`;
  expect(await bench.json('pull', byDigest)).toMatchObject({ code: 0, document: { digest, name: null } });
  expect(await bench.json('inspect', '--local', byDigest)).toMatchObject({ code: 0, document: { digest, from: 'store' } });
});

it('--include and --exclude fetch only what they name', async () => {
  const requests = await bench.requestsOf(() => bench.run('pull', bench.name, '-o', 'out', '--include', '*.json', '--exclude', 'tok*'));
  expect(listFiles(bench.path('out'))).toEqual(['config.json']);
  expect(requests.filter(({ path }) => path.includes('/blobs/'))).toHaveLength(2);
  expect(await bench.json('pull', bench.name, '-o', 'out', '--include', 'nothing*')).toMatchObject({
    code: 3,
    document: { error: { code: 'ops/path-not-found', hint: expect.stringContaining('modelport ls') } },
  });
});

it('into a folder that holds something only with --overwrite, and other files stay', async () => {
  bench.write('out', { 'config.json': 'mine', 'notes.txt': 'mine' });
  expect(await bench.json('pull', bench.name, '-o', 'out')).toMatchObject({
    code: 3,
    document: { error: { code: 'bytes/exists', hint: expect.stringContaining('--overwrite') } },
  });
  expect(await bench.json('pull', bench.name, '-o', 'out', '--overwrite')).toMatchObject({ code: 0, document: { files: 9 } });
  expect(readTree(bench.path('out'))).toEqual({ ...toTree(tinyModel), 'notes.txt': ['644', 'mine'] });
});

it('--shared keeps one copy for many folders', async () => {
  expect(await bench.json('pull', '--shared', bench.name, '-o', 'out')).toMatchObject({ code: 0, document: { digest, files: 9 } });
  expect(statSync(bench.path('out/config.json')).mode & 0o222).toBe(0);
  const { document } = await bench.json('pull', '--shared', bench.name, '-o', 'out/again');
  expect(document).toMatchObject({ files: 9, bytes: { sent: 0 } });
});

it.each([
  [['--include', '*.json'], /Add -o DIR/],
  [['--shared'], /Add -o DIR/],
  [['--overwrite'], /Add -o DIR/],
  [['--local'], /modelport unpack --local/],
  [['-o', 'out', '--referrers'], /without -o/],
  [['--local', '--remote'], /modelport pull --help/],
] as const)('%j is refused before anything is asked', async (args, hint) => {
  const requests = await bench.requestsOf(async () => {
    const { code, document } = await bench.json('pull', bench.name, ...args);
    expect([code, document.error['hint']]).toEqual([2, expect.stringMatching(hint)]);
  });
  expect(requests).toEqual([]);
});

it('what is not there is named, with a way to look', async () => {
  const { host } = bench.registry;
  expect(await bench.json('pull', `${host}/tiny:v9`)).toMatchObject({
    code: 3,
    document: {
      error: { code: 'registry/not-found', message: expect.stringContaining('"v9"'), hint: expect.stringContaining(`modelport list ${host}/tiny`) },
    },
  });
  expect(await bench.json('pull', 'demo/none')).toMatchObject({ code: 2, document: { error: { hint: expect.stringContaining('HOST/REPO:TAG') } } });
  expect(await bench.json('pull', bench.name, '-o', 'tiny/README.md')).toMatchObject({ code: 3, document: { error: { code: 'bytes/exists' } } });
});

it('says what it did', async () => {
  expect(await bench.run('pull', bench.name)).toMatchObject({
    stdout: `Pulled ${bench.name} to the store\n  digest  ${digest}\n  bytes   5.82 kB\n`,
    stderr: '',
  });
  const { stdout } = await bench.run('pull', bench.name, '-o', 'out');
  expect(stdout).toMatch(/^Pulled 9 files to .*\/out\n/);
});
