/**
 * A registry that is killed again and again under load: what it acknowledged is there, byte for byte, or gone for good, and nothing else is left over.
 * `MODELPORT_CRASH_ROUNDS` sets how often; `MODELPORT_CRASH_SEED` repeats what clients did (though not what the processor made of it).
 */
import { randomInt } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRegistryStore, prune, scrub } from '../../src/store/index.js';
import { CrashLife } from '../support/registry-crash/crash-life.js';
import { CrashServer } from '../support/registry-crash/crash-server.js';
import { Ledger, type Manifest, toBlob } from '../support/registry-crash/ledger.js';
import { config, makeManifest } from '../support/registry-crash/manifests.js';
import { pushBlob, pushStyles, putManifest } from '../support/registry-crash/pushing.js';
import { Random } from '../support/registry-crash/random.js';
import { Wire } from '../support/registry-crash/wire.js';
import { bundleProgram } from '../support/run-program.js';
import { createWorkbench, tinyModel, type Workbench } from '../support/workbench.js';

const rounds = Number(process.env['MODELPORT_CRASH_ROUNDS'] ?? 12);
const seed = Number(process.env['MODELPORT_CRASH_SEED'] ?? randomInt(2 ** 32));

/** Rounds on one folder: each looks at all that came before. */
const roundsOfLife = 12;
const clients = 6;

let bench: Workbench;
let pruner: string;
beforeAll(() => {
  bench = createWorkbench();
  bench.write('model', tinyModel);
  pruner = bundleProgram('prune-program', bench.base);
});
afterAll(() => bench.close());

const lives = Array.from({ length: Math.ceil(rounds / roundsOfLife) }, (_, index) => ({
  index,
  count: Math.min(roundsOfLife, rounds - index * roundsOfLife),
  random: new Random((seed + index) >>> 0),
}));

it.each(lives)(
  `a registry that is killed, life $index with $count rounds`,
  async ({ index, count, random }) => {
    const life = new CrashLife({ random, base: bench.path(`life-${index}`), model: bench.path('model'), pruner, clients });
    try {
      await life.begin();
      for (let round = 0; round < count; round++) await life.round().catch((error: unknown) => fail(error, `round ${round} of life ${index}`));
      await life.clear().catch((error: unknown) => fail(error, `the end of life ${index}`));
      expect(life.tally.requests).toBeGreaterThan(10 * count);
      expect(life.tally.broken).toBeGreaterThan(count);
    } finally {
      await life.end().catch(() => {});
    }
  },
  roundsOfLife * 10_000,
);

function fail(error: unknown, where: string): never {
  const message = error instanceof Error ? error.message : String(error);
  throw new Error(`${message}\nin ${where}; MODELPORT_CRASH_SEED=${seed} MODELPORT_CRASH_ROUNDS=${rounds}`, { cause: error });
}

describe('at one time', () => {
  let server: CrashServer;
  let wires: Wire[];
  let count = 0;
  beforeEach(async () => {
    server = new CrashServer(bench.path(`busy-${++count}`), bench.base);
    await server.start();
    wires = [];
  });
  afterEach(async () => {
    for (const wire of wires) wire.close();
    server.kill();
    const faults = await server.ended();
    if (faults.length > 0) throw new Error(faults.join('\n'));
  });

  const connect = () => {
    const wire = new Wire(server.url);
    wires.push(wire);
    return wire;
  };
  const random = new Random(seed);
  const makeLayers = (...sizes: readonly number[]) => sizes.map((size) => toBlob(random.bytes(size)));
  const statusOf = async (target: string) => (await connect().ask('HEAD', target)).status;
  const listBlobs = () => readdirSync(join(server.dir, 'blobs/sha256'));
  const assertSound = async () => expect(await scrub(await openRegistryStore(server.dir))).toMatchObject({ bad: [], missing: [] });

  async function push(wire: Wire, layers: readonly ReturnType<typeof toBlob>[], manifest: Manifest, style = 0): Promise<void> {
    const ledger = new Ledger('team/model');
    for (const [index, blob] of [config, ...layers].entries())
      await pushBlob(wire, ledger, blob, pushStyles[(style + index) % pushStyles.length] ?? 'chunked');
    await putManifest(wire, 'team/model', manifest, 'v1');
  }

  it('sixteen push one package: it is there once, and whole', async () => {
    const layers = makeLayers(300, 400_000, 3_000_000);
    const manifest = makeManifest(layers, 'one');
    await Promise.all(Array.from({ length: 16 }, (_, style) => push(connect(), layers, manifest, style)));
    for (const { digest, bytes } of [config, ...layers])
      expect((await connect().ask('GET', `/v2/team/model/blobs/${digest}`)).body.equals(bytes)).toBe(true);
    expect((await connect().ask('GET', '/v2/team/model/manifests/v1')).body).toEqual(manifest.bytes);
    expect((await openRegistryStore(server.dir)).readRoots()).toHaveLength(1);
    expect(listBlobs()).toHaveLength(layers.length + 2);
    // A collection, which takes a lock and a lease, comes every second.
    await expect.poll(() => readdirSync(server.dir).toSorted(), { timeout: 10_000 }).toEqual(['blobs', 'index.json', 'oci-layout', 'registry']);
    await assertSound();
  });

  it('two set one tag: it is one of theirs, and both packages are there', async () => {
    const layers = makeLayers(500);
    await push(connect(), layers, makeManifest(layers, 'before'));
    for (let round = 0; round < 20; round++) {
      const rivals = [makeManifest(layers, `left ${round}`), makeManifest(layers, `right ${round}`)];
      await Promise.all(rivals.map((manifest) => putManifest(connect(), 'team/model', manifest, 'v1')));
      const { headers } = await connect().ask('HEAD', '/v2/team/model/manifests/v1');
      expect(rivals.map(({ digest }) => digest)).toContain(headers['docker-content-digest']);
      expect(await Promise.all(rivals.map(({ digest }) => statusOf(`/v2/team/model/manifests/${digest}`)))).toEqual([200, 200]);
    }
    expect((await connect().ask('GET', '/v2/team/model/tags/list')).body.toString()).toContain('"tags":["v1"]');
    expect((await openRegistryStore(server.dir)).readRoots()).toHaveLength(41);
    await assertSound();
  });

  it('one pulls what another deletes: what comes is right, to the end or until it breaks off', async () => {
    const [blob = config] = makeLayers(48 * 1024 * 1024);
    const manifest = makeManifest([blob], 'gone');
    await push(connect(), [blob], manifest, 1);
    const url = `${server.url}/v2/team/model/blobs/${blob.digest}`;
    const starts = [0, 0, 1_000_000];
    const readers = await Promise.all(starts.map((start) => begin(url, start)));
    for (const target of [`manifests/${manifest.digest}`, `blobs/${blob.digest}`, `blobs/${config.digest}`])
      expect((await connect().ask('DELETE', `/v2/team/model/${target}`)).status).toBe(202);
    expect((await prune(await openRegistryStore(server.dir))).removed).toHaveLength(3);
    expect(listBlobs()).toEqual([]);
    for (const [index, reader] of readers.entries()) {
      const { bytes, isWhole } = await readOn(reader);
      const expected = blob.bytes.subarray(starts[index]);
      expect(expected.subarray(0, bytes.byteLength).equals(bytes)).toBe(true);
      expect(isWhole).toBe(bytes.byteLength === expected.byteLength);
    }
    expect(await statusOf(`/v2/team/model/blobs/${blob.digest}`)).toBe(404);
  });
});

/** An answer of which nothing was read yet, and that is too long to have been sent already. */
function begin(url: string, start: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(url, { agent: false, headers: { range: `bytes=${start}-` } }, resolve).on('error', reject));
}

async function readOn(incoming: IncomingMessage): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    return { bytes: Buffer.concat(chunks), isWhole: false };
  }
  return { bytes: Buffer.concat(chunks), isWhole: true };
}
