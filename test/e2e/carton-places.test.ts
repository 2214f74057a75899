/** A carton goes from place to place, as a file and as an artifact, and stays what it is. */
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type OpsContext, pull, push } from '../../src/ops/index.js';
import { type CartonBench, createCartonBench, echoModel, serveStore, serveWeb, sha256Of } from '../support/carton-bench.js';
import { readManifest } from '../support/read-stored.js';
import { listFiles } from '../support/workbench.js';

let bench: CartonBench;
beforeEach(() => {
  bench = createCartonBench();
});
afterEach(() => bench.close());

const weights = Buffer.alloc(100_000, 7);
/** A verb in a context that is closed. */
const within = async <R>(call: (context: OpsContext) => Promise<R>, given: Partial<OpsContext> = {}): Promise<R> => {
  const context = bench.context(given);
  try {
    return await call(context);
  } finally {
    await context.close();
  }
};
const hashOf = async (location: string) => (await bench.json('inspect', location)).document['modelHash'];
const goes = async (...line: readonly string[]) => {
  const { code, document, stderr } = await bench.json(...line);
  expect({ line, code, error: document.error, stderr }).toEqual({ line, code: 0, error: undefined, stderr: '' });
  return document;
};

it('store, layout, archive, registry and back: the same hash, and the same bytes', async () => {
  const { modelHash } = await bench.pack('echo', echoModel);
  const host = await serveStore(bench);
  const legs = [
    ['copy', 'echo.carton', 'demo/echo:v1'],
    ['copy', 'demo/echo:v1', 'oci:layout:v1'],
    ['copy', 'oci:layout:v1', 'archive.tar'],
    ['push', 'archive.tar', `${host}/team/echo:v1`],
    ['pull', `${host}/team/echo:v1`, '-o', 'pulled.carton'],
    ['copy', 'pulled.carton', `${host}/team/again:v1`],
    ['copy', `${host}/team/again:v1`, 'copied.carton'],
  ];
  const digests = new Set<unknown>();
  for (const leg of legs) {
    const { digest } = await goes(...leg);
    if (digest !== null) digests.add(digest);
  }
  expect(digests.size).toBe(1);
  for (const place of ['demo/echo:v1', 'oci:layout:v1', 'archive.tar', `${host}/team/echo:v1`, 'pulled.carton', 'copied.carton'])
    expect([place, await hashOf(place)]).toEqual([place, modelHash]);
  expect([bench.sha256('pulled.carton'), bench.sha256('copied.carton')]).toEqual([bench.sha256('echo.carton'), bench.sha256('echo.carton')]);
  expect((await bench.json('list', `${host}/team/echo`)).document.packages).toMatchObject([{ format: 'carton', digest: [...digests][0] }]);
});

it('in a registry it is looked at, tested and unpacked as the file is', async () => {
  await bench.pack('echo', echoModel);
  const name = `${await serveStore(bench)}/team/echo:v1`;
  await goes('push', 'echo.carton', name);
  expect(await goes('ls', name)).toEqual(await goes('ls', 'echo.carton'));
  expect((await bench.run('cat', name, 'model/weights.bin')).stdout).toBe(weights.toString());
  expect(await goes('test', name)).toMatchObject({ passed: 1 });
  expect(await goes('verify', name)).toMatchObject({ ok: true });
  expect(await goes('validate', name, '--strict')).toMatchObject({ findings: [] });
  expect(await goes('diff', name, 'echo.carton')).toMatchObject({ equal: true });
  expect(await goes('pull', name, '-o', 'files')).toMatchObject({ files: 7 });
  expect(await hashOf('./files')).toBe(await hashOf('echo.carton'));
  expect(listFiles(bench.path('files'))).toContain('model/weights.bin');
  await goes('pull', name);
  expect((await goes('list')).packages).toMatchObject([{ name, format: 'carton' }]);
});

it('a folder is packed on its way to a registry', async () => {
  bench.write('echo', echoModel);
  const name = `${await serveStore(bench)}/team/echo:v1`;
  const { digest } = await goes('push', './echo', name, '--format', 'carton');
  expect((await goes('pack', './echo', '--format', 'carton', '-t', 'demo/echo:v1')).digest).toBe(digest);
});

it('a second version brings only what is new', async () => {
  await bench.pack('one', { ...echoModel, 'more.bin': Buffer.alloc(200_000, 1) });
  await bench.pack('two', { ...echoModel, 'more.bin': Buffer.alloc(200_000, 2) });
  const host = await serveStore(bench);
  const first = await within((context) => push({ source: 'one.carton', destination: `${host}/team/echo:v1` }, context));
  const second = await within((context) => push({ source: 'two.carton', destination: `${host}/team/echo:v2` }, context));
  expect(first.bytes).toMatchObject({ sent: first.bytes.total, skipped: 0 });
  expect(second.bytes.skipped).toBeGreaterThanOrEqual(100_000);
  expect(second.bytes.sent).toBeLessThan(220_000);
  await goes('copy', 'one.carton', 'demo/echo:v1');
  await goes('copy', 'two.carton', 'demo/echo:v2');
  const [one, two] = await Promise.all(['demo/echo:v1', 'demo/echo:v2'].map((name) => readManifest(bench, name)));
  const shared = one?.layers.filter(({ digest }) => two?.layers.some((layer) => layer.digest === digest)) ?? [];
  expect(shared).toMatchObject([{ digest: `sha256:${sha256Of(weights)}`, annotations: { 'org.opencontainers.image.title': 'model/weights.bin' } }]);
});

it('what is linked stays linked on the way, unless it is to come inside', async () => {
  const { modelHash } = await bench.pack('echo', echoModel);
  const web = await serveWeb({ '/weights.bin': { bytes: weights } });
  await goes('carton', 'shrink', 'echo.carton', 'small.carton', '--link', `${web.url}/weights.bin`);
  const host = await serveStore(bench);
  await goes('push', 'small.carton', `${host}/team/small:v1`);
  await goes('pull', `${host}/team/small:v1`, '-o', 'back.carton');
  expect(bench.sha256('back.carton')).toBe(bench.sha256('small.carton'));
  expect((await goes('ls', `${host}/team/small:v1`)).files).toContainEqual(
    expect.objectContaining({ path: 'model/weights.bin', linked: true, size: null }),
  );
  expect(web.asked).toHaveLength(1);
  await goes('push', 'small.carton', `${host}/team/whole:v1`, '--inflate');
  await goes('pull', `${host}/team/small:v1`, '-o', 'whole.carton', '--inflate');
  expect([await hashOf(`${host}/team/whole:v1`), await hashOf('whole.carton')]).toEqual([modelHash, modelHash]);
  expect(bench.sha256('whole.carton')).toBe(bench.sha256('echo.carton'));
  expect(readFileSync(bench.path('whole.carton')).includes(web.url)).toBe(false);
  await goes('pull', `${host}/team/small:v1`, '--inflate');
  expect((await goes('ls', `${host}/team/small:v1`, '--local')).files.filter(({ size }) => size === null)).toEqual([]);
});

it('a pull that is interrupted leaves nothing under the name', async () => {
  await bench.pack('echo', { ...echoModel, 'large.bin': Buffer.alloc(8_000_000, 5) });
  const name = `${await serveStore(bench)}/team/echo:v1`;
  await goes('push', 'echo.carton', name);
  for (const output of ['out.carton', 'out']) {
    const control = new AbortController();
    const progress = { start: () => ({ advance: () => control.abort(), done: () => {} }) };
    await expect(within((context) => pull({ name, output }, context), { signal: control.signal, progress })).rejects.toMatchObject({
      code: 'core/cancelled',
    });
    expect(existsSync(bench.path(output))).toBe(false);
  }
  expect(listFiles(bench.base).filter((path) => path.endsWith('.carton') || path.includes('.tmp'))).toEqual(['echo.carton']);
  expect(await goes('pull', name, '-o', 'out.carton')).toMatchObject({ modelHash: await hashOf('echo.carton') });
});

it('what would be passed over in silence is refused', async () => {
  await bench.pack('echo', echoModel);
  const name = `${await serveStore(bench)}/team/echo:v1`;
  await goes('push', 'echo.carton', name);
  for (const line of [
    ['pull', name, '-o', 'out.carton', '--include', 'model/**'],
    ['push', 'echo.carton', name, '--runner', 'noop'],
    ['push', 'echo.carton', name, '--opt', 'x=1'],
    ['pack', './echo', '-t', 'demo/echo:v1', '--compress'],
  ])
    expect(await bench.json(...line)).toMatchObject({ code: 2, document: { error: { code: 'ops/bad-option', hint: expect.any(String) } } });
  expect(existsSync(bench.path('out.carton'))).toBe(false);
});
