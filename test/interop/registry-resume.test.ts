/** kill -9 of either side in the midst of a transfer of 96 MiB, and the same command again. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FlakyProxy, startFlakyProxy } from '../support/registry/flaky-proxy.js';
import { startTestRegistry } from '../support/registry/test-registry.js';
import { listPaths, makeFolder, readFiles, removeFolder, sha256OfFile } from './support/folders.js';
import { type DockerRegistry, startDockerRegistry } from './support/registry.js';
import { sumFinished } from './support/registry-data.js';
import { writeShards } from './support/shards.js';
import { until } from './support/until.js';
import { Workplace } from './support/workplace.js';

const MiB = 1 << 20;
const total = 96 * MiB;
const half = total / 2;
/** Of a download what was on its way, of an upload one piece. */
const mostTwice = 16 * MiB;
/** Manifests, configs, headers. */
const small = 256 * 1024;

let models: string;
let digests: readonly string[];
beforeAll(() => {
  models = makeFolder();
  writeShards(join(models, 'shards'), 3, total / 3);
  writeShards(join(models, 'single'), 1, total);
  digests = listPaths(join(models, 'shards')).map((path) => `sha256:${sha256OfFile(join(models, 'shards', path))}`);
});
afterAll(() => removeFolder(models));

let place: Workplace;
let registry: DockerRegistry;
let proxy: FlakyProxy;
let name: string;
beforeEach(async () => {
  place = new Workplace();
  const folder = place.path('registry');
  mkdirSync(folder);
  registry = await place.open(startDockerRegistry({ folder }));
  proxy = await place.open(startFlakyProxy(registry.host));
  name = `${proxy.host}/demo/model:v1`;
});
afterEach(() => place.close());

/** The model pushed beside the proxy, and that slowed down: as long as a transfer takes, a test can act in its midst. */
async function pushThenSlow(model: 'shards' | 'single'): Promise<void> {
  await place.must(['push', join(models, model), `${registry.host}/demo/model:v1`]);
  proxy.plan = { kind: 'faults', down: { kind: 'delay', milliseconds: 1 } };
}

async function killWithin(args: readonly string[], isTime: () => boolean): Promise<void> {
  const { child, ended } = place.start(args);
  await until('the middle', () => isTime() || child.exitCode !== null);
  child.kill('SIGKILL');
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
}

const isWeight = (path: string): boolean => path.endsWith('.safetensors');

describe('kill -9 of modelport', () => {
  it('within a pull to a folder: the next run fetches what is missing', async () => {
    await pushThenSlow('shards');
    const parent = place.path('parent');
    mkdirSync(parent);
    const output = join(parent, 'model');
    await killWithin(['pull', name, '-o', output], () => proxy.bytes.down > half);
    const fetched = proxy.bytes.down;
    expect(existsSync(output)).toBe(false);
    const kept = listPaths(parent);
    expect(kept.every((path) => path.startsWith('.'))).toBe(true);
    const keptBytes = kept.filter(isWeight).reduce((sum, path) => sum + statSync(join(parent, path)).size, 0);
    expect(keptBytes).toBeGreaterThan(fetched - mostTwice);

    proxy.plan = { kind: 'pass' };
    const { counted } = await place.tell(['pull', name, '-o', output]);
    expect(readFiles(output)).toEqual(readFiles(join(models, 'shards')));
    expect(listPaths(parent).every((path) => path.startsWith('model/'))).toBe(true);
    expect(proxy.bytes.down).toBeLessThan(total + mostTwice + small);
    expect(counted.received).toBeLessThan(total - fetched + mostTwice + small);
    expect(counted.resumed).toBeGreaterThan(fetched - mostTwice - small);
  });

  it('within a pull to the store: the same, and the store is sound in between', async () => {
    await pushThenSlow('shards');
    await killWithin(['pull', name], () => proxy.bytes.down > half);
    expect(await place.json(['list'])).toMatchObject({ packages: [] });
    expect(await place.json(['verify'])).toMatchObject({ ok: true });

    proxy.plan = { kind: 'pass' };
    await place.must(['pull', name]);
    expect(proxy.bytes.down).toBeLessThan(total + mostTwice + small);
    expect(await place.json(['verify', '--local', name])).toMatchObject({ ok: true, problems: [] });
  });

  it("within a push to Docker's registry: blobs that are finished are not sent again", async () => {
    proxy.plan = { kind: 'faults', up: { kind: 'delay', milliseconds: 1 } };
    const args = ['push', join(models, 'shards'), name, '--concurrency', '1'];
    await killWithin(args, () => proxy.bytes.up > half);
    const finished = sumFinished(registry, digests);
    expect(finished).toBeGreaterThanOrEqual(total / 3);
    expect((await place.runTool('crane', ['manifest', `${registry.host}/demo/model:v1`])).code).not.toBe(0);

    proxy.plan = { kind: 'pass' };
    const { counted } = await place.tell(args);
    expect(counted.sent).toBeLessThan(total - finished + small);
    expect(await place.json(['verify', '--remote', name])).toMatchObject({ ok: true });
  });

  it("within a push of one blob to Docker's registry, which does not go on with an upload that was cut: the next run ends well", async () => {
    proxy.plan = { kind: 'faults', up: { kind: 'delay', milliseconds: 1 } };
    const args = ['push', join(models, 'single'), name];
    await killWithin(args, () => proxy.bytes.up > half);
    proxy.plan = { kind: 'pass' };
    await place.must(args);
    expect(proxy.bytes.up).toBeLessThan(half + total + mostTwice);
    expect(await place.json(['verify', '--remote', name])).toMatchObject({ ok: true });
  });

  it('within a push of one blob to a registry that keeps what arrived: at most one piece goes twice', async () => {
    const keeping = await place.open(startTestRegistry());
    const received = () => keeping.log.reduce((sum, { requestBytes }) => sum + requestBytes, 0);
    const args = ['push', join(models, 'single'), `${keeping.host}/demo/model:v1`];
    await killWithin(args, () => received() > 40 * MiB);
    expect(received()).toBeLessThan(total);
    expect(keeping.uploads().length).toBe(1);

    await place.must(args);
    expect(received()).toBeLessThan(total + mostTwice + small);
    expect(keeping.uploads()).toEqual([]);
    expect(await place.json(['verify', '--remote', `${keeping.host}/demo/model:v1`])).toMatchObject({ ok: true });
    expect(keeping.mishaps).toEqual([]);
  });

  it('nothing was changed, and nothing is read or sent', async () => {
    await place.must(['push', join(models, 'shards'), name]);
    const { counted } = await place.tell(['push', join(models, 'shards'), name]);
    expect(counted).toMatchObject({ read: 0, sent: 0, written: 0, received: 0 });
    expect(counted.skipped).toBeGreaterThan(total);
  });
});

describe('kill -9 of the registry, which is back within a second', () => {
  async function restart(): Promise<void> {
    await registry.close();
    registry = await place.open(startDockerRegistry({ folder: registry.folder, port: Number(new URL(registry.url).port) }));
  }

  it('a pull goes on as if nothing had been', async () => {
    await pushThenSlow('shards');
    const output = place.path('pulled');
    const pulling = place.tell(['pull', name, '-o', output]);
    await until('the middle', () => proxy.bytes.down > half);
    await restart();
    proxy.plan = { kind: 'pass' };
    const { counted } = await pulling;
    expect(readFiles(output)).toEqual(readFiles(join(models, 'shards')));
    expect(counted.received).toBeLessThan(total + mostTwice);
  });

  it('a push ends well, or says that the world failed and ends well the next time', async () => {
    proxy.plan = { kind: 'faults', up: { kind: 'delay', milliseconds: 1 } };
    const args = ['push', join(models, 'shards'), name];
    const pushing = place.run(args);
    await until('the middle', () => proxy.bytes.up > half);
    await restart();
    proxy.plan = { kind: 'pass' };
    const { code } = await pushing;
    expect([0, 3]).toContain(code);
    await place.must(args);
    expect(await place.json(['verify', '--remote', name])).toMatchObject({ ok: true });
  });
});
