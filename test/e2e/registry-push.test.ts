/** push: a folder without a copy here, a package as it is, and what is not sent a second time. */
import { existsSync, statSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createCounters } from '../../src/core/index.js';
import { push } from '../../src/ops/index.js';
import { createRegistryBench, type RegistryBench } from '../support/registry-bench.js';

let bench: RegistryBench;
let host: string;
beforeAll(async () => {
  bench = await createRegistryBench();
  ({ host } = bench.registry);
});
afterAll(() => bench.end());

/** A file that was written just now may be written again without anybody noticing. */
const justWrittenMs = 100;

const isSending = ({ method }: { readonly method: string }) => ['POST', 'PUT', 'PATCH'].includes(method);

it('a folder becomes what pack makes of it, and nothing is kept here', async () => {
  const { code, document, stderr } = await bench.json('push', './tiny', bench.name);
  expect([code, stderr]).toEqual([0, '']);
  expect(document).toMatchObject({
    format: 'modelpack',
    vintage: 'cncf',
    name: bench.name,
    path: null,
    pushed: { host, repository: 'tiny', tag: 'v1' },
    lost: [],
    parts: { length: 9 },
  });
  expect(existsSync(`${bench.home}/blobs`)).toBe(false);
  expect((await bench.json('pack', './tiny', '-t', 'demo/tiny:v1')).document.digest).toBe(document.digest);
  expect(bench.registry.findManifest('tiny', 'v1')?.digest).toBe(document.digest);
});

it('again, no file is read and nothing is sent', async () => {
  const folder = bench.write('big', { 'README.md': '# Big\n', 'data.bin': Buffer.alloc(3 * 1024 * 1024, 7) });
  await vi.waitUntil(() => Date.now() - statSync(`${folder}/data.bin`).ctimeMs > justWrittenMs);
  const options = { source: './big', destination: `${host}/big:v1` };
  const first = await push(options, bench.context());
  const counters = createCounters();
  const requests = await bench.requestsOf(() => push(options, bench.context({ counters })));
  expect(counters).toMatchObject({ read: 0, sent: 0, written: 0 });
  expect(requests.filter(isSending)).toEqual([]);
  expect((await push(options, bench.context())).bytes).toEqual({ total: first.bytes.total, sent: 0, skipped: first.bytes.total });
});

it('a package of the store goes to where it is said, else to where its name says', async () => {
  await bench.run('pack', './tiny', '-t', 'demo/tiny:v1');
  const { document } = await bench.json('push', 'demo/tiny:v1', `${host}/stored:v1`);
  expect(document).toMatchObject({ name: `${host}/stored:v1`, copied: [{ name: `${host}/stored:v1` }], pushed: { tag: 'v1' } });
  await bench.run('tag', 'demo/tiny:v1', `${host}/named`);
  const named = await bench.json('push', `${host}/named`);
  expect(named).toMatchObject({ code: 0, document: { digest: document.digest, name: `${host}/named:latest`, bytes: { total: expect.any(Number) } } });
  expect(bench.registry.findManifest('named', 'latest')?.digest).toBe(document.digest);
});

it('a package of a layout and of an archive', async () => {
  await bench.run('copy', 'demo/tiny:v1', 'oci:layout:v1');
  await bench.run('copy', 'demo/tiny:v1', 'tiny.tar');
  const { digest } = (await bench.json('inspect', 'demo/tiny:v1')).document;
  for (const [source, tag] of [
    ['oci:layout:v1', 'layout'],
    ['tiny.tar', 'archive'],
  ] as const) {
    expect(await bench.json('push', source, `${host}/moved:${tag}`)).toMatchObject({ code: 0, document: { digest } });
    expect(bench.registry.findManifest('moved', tag)?.digest).toBe(digest);
  }
});

it('takes what pack takes, of a folder only', async () => {
  const { document } = await bench.json('push', './tiny', `${host}/draft:v1`, '--vintage', 'draft-2024', '--set', 'licenses=MIT');
  expect(document).toMatchObject({ vintage: 'draft-2024' });
  expect((await bench.json('inspect', `${host}/draft:v1`)).document).toMatchObject({ vintage: 'draft-2024', identity: { licenses: ['MIT'] } });
  const hybrid = (await bench.json('push', './tiny', `${host}/hybrid:v1`, '--hybrid')).document;
  expect(hybrid).toMatchObject({ hybrid: { name: `${host}/hybrid:v1-image` } });
  expect(bench.registry.findManifest('hybrid', 'v1-image')).toBeDefined();
  expect(await bench.json('push', 'demo/tiny:v1', `${host}/never:v1`, '--set', 'licenses=MIT')).toMatchObject({
    code: 2,
    document: { error: { code: 'ops/bad-option', hint: expect.stringContaining('modelport edit') } },
  });
});

it('the digest depends neither on times nor on the name', async () => {
  const [a, b] = [await bench.json('push', './tiny', `${host}/one:x`), await bench.json('push', './tiny', `${host}/two/deep:y`)];
  expect(a.document.digest).toBe(b.document.digest);
});

it.each([
  [['./tiny'], 2, 'ops/bad-option', /HOST\/REPO:TAG/],
  [['./tiny', 'demo/none:v1'], 2, 'core/bad-reference', /has no host/],
  [['demo/tiny:v1'], 2, 'core/bad-reference', /has no host/],
  [['demo/none:v1', 'localhost:5000/x'], 3, 'store/name-not-found', /demo\/none:v1/],
  [['./nowhere', 'localhost:5000/x'], 3, 'bytes/not-found', /nowhere/],
  [['./tiny', 'localhost:5000/Up:v1'], 2, 'core/bad-reference', /lower case/],
  [['./tiny', `localhost:5000/x@sha256:${'0'.repeat(64)}`], 2, 'core/bad-reference', /digest/],
] as const)('%j ends with %i: %s', async (args, status, code, said) => {
  const { code: ended, document } = await bench.json('push', ...args);
  expect([ended, document.error['code']]).toEqual([status, code]);
  expect([document.error['message'], document.error['hint']].join(' ')).toMatch(said);
});

it('says what it did', async () => {
  const { stdout, stderr } = await bench.run('push', './tiny', `${host}/said:v1`);
  expect(stdout).toMatch(new RegExp(`^Pushed 9 files to ${host}/said:v1\\n {2}digest {2}sha256:[0-9a-f]{64}\\n {2}bytes {3}5\\.82 kB\\b`));
  expect(stderr).toBe('');
  expect(await bench.run('push', './tiny', `${host}/said:v1`)).toMatchObject({ stdout: expect.stringContaining('all of it there already') });
  expect(await bench.run('push', './tiny', `${host}/said:v1`, '-q')).toMatchObject({ stdout: expect.stringMatching(/^sha256:\w{64}\n$/) });
});
