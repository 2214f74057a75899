/** Registries and networks that fail: a damaged byte never gets a name, and what breaks goes on. */
import { existsSync, readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRegistryBench, type RegistryBench } from '../support/registry-bench.js';
import { type FlakyProxy, startFlakyProxy } from '../support/registry/flaky-proxy.js';
import { makeBytes } from '../support/distant-blob.js';
import { makeTensors } from '../support/weight-files.js';

const MiB = 1024 * 1024;

let bench: RegistryBench;
let proxy: FlakyProxy | undefined;
beforeEach(async () => {
  bench = await createRegistryBench();
  bench.write('model', {
    'model.safetensors': makeTensors({ w: ['F32', [MiB], 4 * MiB] }),
    'data.bin': makeBytes(6 * MiB),
    'README.md': '# Model\n',
  });
});
afterEach(async () => {
  await proxy?.close();
  proxy = undefined;
  await bench.end();
});

const pushModel = () => bench.json('push', './model', bench.name);

/** Digest of a part, and of what its layer is called in messages. */
async function findPart(path: string): Promise<string> {
  const { document } = await bench.json('ls', '--remote', bench.name);
  return String(document.files.find((file) => file['path'] === path)?.['digest']);
}

/** Files that stand under their final names. */
function listFinal(folder: string): string[] {
  const path = bench.path(folder);
  return existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => !/(^|\/)\./.test(name)) : [];
}

describe('a damaged blob', () => {
  it.each([['-o', 'out'], []])('that stays damaged fails soon, with its layer named, and is fetched twice (%j)', async (...where) => {
    await pushModel();
    const digest = await findPart('data.bin');
    bench.registry.behaviour.corruptBlob.set(digest, 'always');
    const requests = await bench.requestsOf(async () => {
      const { code, document } = await bench.json('pull', bench.name, ...where);
      expect([code, document.error]).toMatchObject([1, { code: 'bytes/digest-mismatch' }]);
      expect(JSON.stringify(document.error)).toMatch(new RegExp(`data\\.bin|${digest}`));
    });
    expect(requests.filter(({ path }) => path.endsWith(digest))).toHaveLength(2);
    expect(listFinal('out')).toEqual([]);
    expect((await bench.json('list')).document.packages).toEqual([]);
  });

  it.each([['-o', 'out'], []])('that is whole the second time does no harm (%j)', async (...where) => {
    await pushModel();
    bench.registry.behaviour.corruptBlob.set(await findPart('data.bin'), 'once');
    expect(await bench.json('pull', bench.name, ...where)).toMatchObject({ code: 0 });
    expect(bench.registry.behaviour.corruptBlob.size).toBe(0);
    const what = where.length === 0 ? bench.name : './out';
    expect(await bench.json('diff', what, './model', '--values')).toMatchObject({ code: 0, document: { equal: true } });
  });
});

it('a damaged config is no whole package, though the files do not need it', async () => {
  await pushModel();
  const { config } = JSON.parse(Buffer.from(bench.registry.findManifest('tiny', 'v1')?.bytes ?? []).toString()) as { config: { digest: string } };
  bench.registry.behaviour.corruptBlob.set(config.digest, 'always');
  expect(await bench.json('pull', bench.name, '-o', 'out')).toMatchObject({ code: 1, document: { error: { code: 'bytes/digest-mismatch' } } });
  expect(listFinal('out')).toEqual([]);
  bench.registry.behaviour.corruptBlob.set(config.digest, 'once');
  expect(await bench.json('pull', bench.name, '-o', 'out')).toMatchObject({ code: 0 });
});

describe('a connection that breaks', () => {
  it.each(['reset', 'close'] as const)('in the midst of a pull: the same command ends well (%s)', async (how) => {
    await pushModel();
    proxy = await startFlakyProxy(bench.registry.host, { kind: 'faults', down: { kind: 'cut', after: 3 * MiB, how, times: 2 } });
    expect(await bench.json('pull', `${proxy.host}/tiny:v1`, '-o', 'out')).toMatchObject({ code: 0, document: { files: 3 } });
    expect(proxy.struck).toBeGreaterThan(0);
    expect(await bench.json('diff', './out', './model', '--values')).toMatchObject({ code: 0 });
  });

  it.each(['reset', 'close'] as const)('in the midst of a push: the same command ends well (%s)', async (how) => {
    proxy = await startFlakyProxy(bench.registry.host, { kind: 'faults', up: { kind: 'cut', after: 3 * MiB, how, times: 2 } });
    const { code, document } = await bench.json('push', './model', `${proxy.host}/tiny:v1`);
    expect([code, document]).toMatchObject([0, { digest: expect.any(String) }]);
    expect(proxy.struck).toBeGreaterThan(0);
    expect(await bench.json('verify', '--remote', bench.name)).toMatchObject({ code: 0, document: { ok: true } });
  });

  it('and a registry that is closed then: the same command goes on once it is open again', async () => {
    await pushModel();
    const slow = await startFlakyProxy(bench.registry.host, { kind: 'faults', down: { kind: 'delay', milliseconds: 2 } });
    proxy = slow;
    const pull = () => bench.json('pull', `${slow.host}/tiny:v1`, '-o', 'out', '--concurrency', '1');
    const first = pull();
    await vi.waitUntil(() => slow.bytes.down > 5 * MiB, { interval: 1, timeout: 20_000 });
    bench.registry.behaviour.failStatus = () => 403;
    slow.breakAll();
    const { code, document } = await first;
    expect([code, document.error]).toMatchObject([3, { code: 'registry/denied' }]);
    expect(listFinal('out')).toEqual([]);
    bench.registry.behaviour.failStatus = undefined;
    slow.plan = { kind: 'pass' };
    const before = slow.bytes.down;
    expect(await pull()).toMatchObject({ code: 0, document: { files: 3 } });
    expect(slow.bytes.down - before).toBeLessThan(7 * MiB);
    expect(await bench.json('diff', './out', './model', '--values')).toMatchObject({ code: 0 });
  });
});

it('a registry that restarts in the midst of a push and of a pull', async () => {
  const { registry } = bench;
  const restarts: Promise<void>[] = [];
  const restartAt = (matches: (method: string, path: string) => boolean) => {
    registry.behaviour.failStatus = ({ method, path }) => {
      if (matches(method, path)) {
        registry.behaviour.failStatus = undefined;
        restarts.push(registry.restart());
      }
      return undefined;
    };
  };
  restartAt((method) => method === 'PUT');
  expect(await pushModel()).toMatchObject({ code: 0 });
  restartAt((method, path) => method === 'GET' && path.includes('/blobs/'));
  expect(await bench.json('pull', bench.name, '-o', 'out')).toMatchObject({ code: 0 });
  await Promise.all(restarts);
  expect(restarts).toHaveLength(2);
  expect(await bench.json('diff', './out', './model', '--values')).toMatchObject({ code: 0 });
});
