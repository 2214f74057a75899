import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDistantBlob } from '../../test/support/distant-blob.js';
import { bundleProgram, runProgram } from '../../test/support/run-program.js';
import { createOwner, digestOf, toOwnerText } from '../bytes/index.js';
import { type ByteCounters, createCounters } from '../core/index.js';
import { toBlobPath } from './blob-path.js';
import { type LayoutStore, openLocalStore, prune } from './index.js';
import { toPartial } from './partials.js';
import { receivedBytes } from './receive-blob.js';

let home: string;
let counters: ByteCounters;
let store: LayoutStore;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'receive-'));
  counters = createCounters();
  store = await openLocalStore({ home, counters, digestCache: false });
});
afterEach(() => rmSync(home, { recursive: true }));

const size = receivedBytes + 1000;
const half = 9_000_000;

type Distant = ReturnType<typeof createDistantBlob>;
const put = ({ blobs, descriptor }: Distant) => store.put({ kind: 'blob', blobs, descriptor }, { expected: descriptor });
const expectBlob = ({ descriptor }: Distant) => {
  const path = toBlobPath(home, descriptor.digest);
  expect(digestOf(readFileSync(path))).toBe(descriptor.digest);
  expect(statSync(path).mode & 0o777).toBe(0o444);
};
const tidy = ['blobs', 'index.json', 'oci-layout'];

describe('put of a blob of another place', () => {
  it('fetches it once and leaves nothing else', async () => {
    const blob = createDistantBlob(size);
    expect(await put(blob)).toEqual({ digest: blob.descriptor.digest, size, fresh: true });
    expect(counters).toEqual({ ...createCounters(), hashed: size, written: size });
    expectBlob(blob);
    expect(readdirSync(home).toSorted()).toEqual(tidy);
    expect(await put(blob)).toMatchObject({ fresh: false });
    expect(blob.opened).toHaveLength(1);
  });

  it('goes on after what an earlier run left', async () => {
    const blob = createDistantBlob(size, { breakAt: half });
    await expect(put(blob)).rejects.toMatchObject({ code: 'registry/interrupted' });
    expect(statSync(toPartial(home, blob.descriptor.digest).path).size).toBe(half);
    expect(await store.has(blob.descriptor)).toBe(false);
    await put(blob);
    expect(blob.opened.at(-1)).toEqual({ start: half, end: size });
    expect(counters).toMatchObject({ resumed: half, written: size });
    expectBlob(blob);
    expect(readdirSync(home).toSorted()).toEqual(tidy);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['garbled', (bytes) => bytes.subarray(0, half).fill(0, 1000, 2000)],
    ['longer than the blob', (bytes) => Buffer.concat([bytes, bytes])],
    ['empty', (bytes) => bytes.subarray(0, 0)],
  ])('is not misled by a file that is %s', async (_what, spoil) => {
    const blob = createDistantBlob(size);
    const { path } = toPartial(home, blob.descriptor.digest);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, spoil(Buffer.from(blob.bytes)));
    await put(blob);
    expectBlob(blob);
  });

  it('keeps nothing of wrong bytes', async () => {
    const blob = createDistantBlob(size, { spoil: (bytes) => bytes.fill(0, 0, 9) });
    await expect(put(blob)).rejects.toMatchObject({ code: 'bytes/digest-mismatch', where: blob.descriptor.digest });
    expect(readdirSync(home).toSorted()).toEqual(tidy);
  });

  it('fetches small ones the ordinary way, and believes no descriptor', async () => {
    const small = createDistantBlob(1000, { spoil: (bytes) => bytes.fill(0, 0, 9) });
    const { blobs, descriptor } = small;
    await expect(store.put({ kind: 'blob', blobs, descriptor })).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    const whole = createDistantBlob(1000);
    expect(await store.put({ kind: 'blob', blobs: whole.blobs, descriptor: whole.descriptor })).toMatchObject({ fresh: true });
    expectBlob(whole);
  });

  it('fetches it once for two who want it at a time', async () => {
    const blob = createDistantBlob(size);
    const stored = await Promise.all([put(blob), put(blob)]);
    expect(stored.map(({ fresh }) => fresh).toSorted()).toEqual([false, true]);
    expect(blob.opened).toHaveLength(1);
    expect(counters).toMatchObject({ written: size, skipped: size });
  });
});

describe('prune', () => {
  const week = 7 * 86_400;
  const leave = async (seed: string, secondsAgo: number) => {
    const blob = createDistantBlob(size, { seed, breakAt: half });
    await expect(put(blob)).rejects.toMatchObject({ code: 'registry/interrupted' });
    const partial = toPartial(home, blob.descriptor.digest);
    utimesSync(partial.path, Date.now() / 1000 - secondsAgo, Date.now() / 1000 - secondsAgo);
    return { ...partial, blob };
  };

  it('keeps begun blobs for a week', async () => {
    const [young, old] = [await leave('young', week - 3600), await leave('old', week + 3600)];
    expect(await prune(store, { dryRun: true })).toEqual({
      removed: [],
      freedBytes: half,
      kept: 0,
      leftovers: 1,
      uploads: 0,
      claims: 0,
      untagged: [],
    });
    expect(existsSync(old.path)).toBe(true);
    utimesSync(dirname(old.path), 1, 1);
    expect(await prune(store)).toEqual({ removed: [], freedBytes: half, kept: 0, leftovers: 1, uploads: 0, claims: 0, untagged: [] });
    expect([existsSync(young.path), existsSync(old.path)]).toEqual([true, false]);
    await put(young.blob);
    expect(counters.resumed).toBe(half);
  });

  it('never removes one that somebody works on', async () => {
    const { path, lock } = await leave('busy', week + 3600);
    writeFileSync(lock, toOwnerText(createOwner()));
    for (const dryRun of [true, false]) expect(await prune(store, { dryRun })).toMatchObject({ leftovers: 0 });
    expect(existsSync(path)).toBe(true);
    writeFileSync(lock, toOwnerText({ ...createOwner(), pid: 2 ** 22 + 1 }));
    expect(await prune(store)).toMatchObject({ leftovers: 1 });
    expect(readdirSync(home).toSorted()).toEqual(tidy);
  });

  it('removes one that came whole another way', async () => {
    const { path, blob } = await leave('whole', 0);
    await store.put({ kind: 'bytes', bytes: blob.bytes });
    await prune(store);
    expect(existsSync(path)).toBe(false);
  });

  it('leaves other files in peace', async () => {
    const { path } = await leave('young', 0);
    writeFileSync(join(dirname(path), 'notes.txt'), 'mine');
    await prune(store);
    expect(readdirSync(dirname(path))).toHaveLength(2);
  });
});

describe('processes', () => {
  let bundles: string;
  let program: string;
  beforeAll(() => {
    bundles = mkdtempSync(join(tmpdir(), 'receive-program-'));
    program = bundleProgram('receive-program', bundles);
  });
  afterAll(() => rmSync(bundles, { recursive: true }));

  const run = async (...args: string[]): Promise<ByteCounters> => {
    const { code, stderr } = await runProgram(program, args);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^\{/)]);
    return JSON.parse(stderr) as ByteCounters;
  };
  const kill = async (...args: string[]) =>
    expect(await runProgram(program, args, (child) => child.kill('SIGKILL'))).toMatchObject({ signal: 'SIGKILL' });
  /** The last chunk before the hang may have been on its way to the disk. */
  const expectResumed = ({ resumed, received, written }: ByteCounters, hang: number) => {
    expect(resumed).toBeGreaterThan(hang - 600_001);
    expect([received, written]).toEqual([size - resumed, size - resumed]);
  };

  it('one goes on with what a killed one put, twice', async () => {
    const blob = createDistantBlob(size);
    await kill('put', home, String(size), '6000000');
    expect(await store.has(blob.descriptor)).toBe(false);
    await kill('put', home, String(size), '12000000');
    expectResumed(await run('put', home, String(size)), 12_000_000);
    expectBlob(blob);
    await prune(store);
    expect(
      readdirSync(home)
        .filter((name) => name !== 'cache')
        .toSorted(),
    ).toEqual(tidy);
  });

  it('of several that want one blob one fetches it', async () => {
    const ended = await Promise.all([1, 2, 3].map(() => run('put', home, String(size))));
    expect(ended.reduce((sum, { received }) => sum + received, 0)).toBe(size);
    expectBlob(createDistantBlob(size));
  });

  it('one takes over from another that is killed while it waits for it', async () => {
    const first = runProgram(program, ['put', home, String(size), '12000000'], (child) => {
      void waitFor(() => readdirSync(join(home, 'ingest')).length >= 3).then(() => child.kill('SIGKILL'));
    });
    await waitFor(() => existsSync(toPartial(home, createDistantBlob(size).descriptor.digest).lock));
    expectResumed(await run('put', home, String(size)), 12_000_000);
    expect(await first).toMatchObject({ signal: 'SIGKILL' });
    expectBlob(createDistantBlob(size));
  });

  it('one goes on with what a killed one unpacked', async () => {
    const target = join(home, 'target');
    await kill('unpack', target, String(size), '12000000');
    expect(readdirSync(home)).toEqual([expect.stringMatching(/^\.modelport-.*\.part$/)]);
    expectResumed(await run('unpack', target, String(size)), 12_000_000);
    expect(readdirSync(home)).toEqual(['target']);
    expect(readFileSync(join(target, 'deep/model.bin')).equals(createDistantBlob(size).bytes)).toBe(true);
  });
});

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(setImmediate);
}
