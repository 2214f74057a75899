import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeBytes } from '../../test/support/distant-blob.js';
import { digestOf, fromBytes } from '../bytes/index.js';
import { type ByteStream, createCounters, createError, defaultLimits, type Digest } from '../core/index.js';
import { clearFileCache, openFileCache } from './file-cache.js';

let home: string;
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'file-cache-'))));
afterEach(() => rmSync(home, { recursive: true }));

const open = (limits = defaultLimits) => openFileCache(home, limits);
const listNames = () =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name);
const put = async (seed: string, size = 1000, cache = open()): Promise<{ digest: Digest; path: string; bytes: Buffer }> => {
  const bytes = makeBytes(size, seed);
  const digest = digestOf(bytes);
  return { digest, path: await cache.receive(digest, fromBytes(bytes)), bytes };
};

describe('a file', () => {
  it('is written once, hashed on the way, and found again', async () => {
    const bytes = makeBytes(3_000_000);
    const digest = digestOf(bytes);
    const counters = createCounters();
    const cache = open();
    expect(cache.find(digest)).toBeUndefined();
    const path = await cache.receive(digest, fromBytes(bytes), { counters, expectedBytes: bytes.byteLength });
    const hex = digest.slice(7);
    expect(path).toBe(join(home, 'cache', 'sha256', hex.slice(0, 2), hex));
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o444);
    expect(counters).toEqual({ ...createCounters(), hashed: bytes.byteLength, written: bytes.byteLength });
    expect([open().find(digest), open().total()]).toEqual([path, bytes.byteLength]);
    cache.remove(digest);
    expect(cache.find(digest)).toBeUndefined();
  });

  it('is not kept when it is another one, longer than allowed, or breaks off', async () => {
    const digest = digestOf(makeBytes(1000));
    async function* broken(): ByteStream {
      yield makeBytes(500);
      throw createError('http/unreachable-file', { message: 'Cannot fetch it' });
    }
    const wrong = open().receive(digest, fromBytes(makeBytes(1000, 'other')));
    await expect(wrong).rejects.toMatchObject({ code: 'bytes/digest-mismatch', message: expect.stringContaining(digest) });
    const long = open({ ...defaultLimits, linkedBytes: 999 }).receive(digest, fromBytes(makeBytes(1000)));
    await expect(long).rejects.toMatchObject({ code: 'bytes/limit' });
    await expect(open().receive(digest, broken())).rejects.toMatchObject({ code: 'http/unreachable-file' });
    expect([open().find(digest), open().total(), listNames()]).toEqual([undefined, 0, []]);
  });

  it('replaces what a stranger put in its place', async () => {
    const outside = join(home, 'outside');
    writeFileSync(outside, 'mine');
    const bytes = makeBytes(1000);
    const digest = digestOf(bytes);
    const path = join(home, 'cache', 'sha256', digest.slice(7, 9), digest.slice(7));
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(outside, path);
    expect(open().find(digest)).toBeUndefined();
    expect(open().total()).toBe(0);
    await open().receive(digest, fromBytes(bytes));
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(readFileSync(outside, 'utf8')).toBe('mine');
  });

  it('may be received by several at a time', async () => {
    const all = await Promise.all([1, 2, 3, 4].map(() => put('same', 100_000)));
    expect(new Set(all.map(({ path }) => path)).size).toBe(1);
    expect(listNames()).toEqual([all[0]?.digest.slice(7)]);
  });

  it('is fetched by one at a time', async () => {
    const digest = digestOf(makeBytes(10));
    const steps: string[] = [];
    const work = (name: string) => async () => {
      steps.push(`${name} begins`);
      await Promise.resolve();
      steps.push(`${name} ends`);
    };
    await Promise.all([open().exclusively(digest, work('a')), open().exclusively(digest, work('b'))]);
    expect(steps.map((step) => step.slice(2))).toEqual(['begins', 'ends', 'begins', 'ends']);
    expect(listNames()).toEqual([]);
    const control = new AbortController();
    const held = open().exclusively(digest, async () => {
      const waiting = open().exclusively(digest, work('c'), control.signal);
      control.abort();
      await expect(waiting).rejects.toMatchObject({ code: 'core/cancelled' });
    });
    await held;
    expect(steps).toHaveLength(4);
  });
});

describe('all files', () => {
  it('are trimmed, the least recently used first, without what is in use', async () => {
    const files = await Promise.all(['a', 'b', 'c', 'd'].map((seed) => put(seed)));
    files.forEach(({ path }, at) => utimesSync(path, 1000 + at, 1000 + at));
    const [a, b, c, d] = files.map(({ digest }) => digest) as [Digest, Digest, Digest, Digest];
    const cache = open();
    cache.find(a);
    expect(cache.trim(4000)).toBe(0);
    expect(cache.trim(2999)).toBe(2000);
    const later = open();
    expect([a, b, c, d].map((digest) => later.find(digest) !== undefined)).toEqual([true, false, false, true]);
    expect(later.trim(0)).toBe(0);
    utimesSync(files[0]?.path ?? '', 1, 1);
    expect(open().trim(1000)).toBe(1000);
    expect(open().find(a)).toBeUndefined();
  });

  it('go when it is cleared, and nothing else does', async () => {
    const { path } = await put('a');
    await put('b');
    const folder = dirname(path);
    const old = join(folder, '.modelport-1-ab.tmp');
    const young = join(folder, '.modelport-2-ab.tmp');
    for (const leftover of [old, young]) writeFileSync(leftover, 'half');
    utimesSync(old, 1, 1);
    writeFileSync(join(home, 'cache', 'blob-places.txt'), 'x');
    expect(clearFileCache(home, defaultLimits, { dryRun: true })).toBe(2000);
    expect(existsSync(path)).toBe(true);
    expect(clearFileCache(home, defaultLimits)).toBe(2000);
    expect(listNames().toSorted()).toEqual(['.modelport-2-ab.tmp', 'blob-places.txt']);
    expect(clearFileCache(join(home, 'nothing'), defaultLimits)).toBe(0);
  });
});
