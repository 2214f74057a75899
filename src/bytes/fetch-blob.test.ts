import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDistantBlob, type DistantBlob } from '../../test/support/distant-blob.js';
import { createCounters, createError } from '../core/index.js';
import { fetchBlob, type FetchBlobOptions } from './fetch-blob.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fetch-'));
  path = join(folder, 'partial');
});
afterEach(() => rmSync(folder, { recursive: true }));

const size = 3_000_000;
const kept = 1_234_567;

function watch() {
  const state = { counters: createCounters(), bytes: 0, onBytes: (bytes: number) => void (state.bytes += bytes) };
  return state;
}

const fetch = (blob: DistantBlob, options?: FetchBlobOptions) => fetchBlob(blob.blobs, blob.descriptor, path, options);

describe('fetchBlob', () => {
  it('fetches, hashes and writes every byte once', async () => {
    const blob = createDistantBlob(size);
    const watching = watch();
    await fetch(blob, watching);
    expect(readFileSync(path).equals(blob.bytes)).toBe(true);
    expect(watching.counters).toEqual({ ...createCounters(), hashed: size, written: size });
    expect(watching.bytes).toBe(size);
    expect(blob.opened).toEqual([{ start: 0, end: size }]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([size, 20_000_000])('goes on after what is there, of %i bytes', async (total) => {
    const blob = createDistantBlob(total);
    writeFileSync(path, blob.bytes.subarray(0, kept));
    const watching = watch();
    await fetch(blob, watching);
    expect(readFileSync(path).equals(blob.bytes)).toBe(true);
    expect(watching.counters).toEqual({ ...createCounters(), read: kept, hashed: total, resumed: kept, written: total - kept });
    expect(watching.bytes).toBe(total);
    expect(blob.opened).toEqual([{ start: kept, end: total }]);
  });

  it('fetches nothing when all is there', async () => {
    const blob = createDistantBlob(size);
    writeFileSync(path, blob.bytes);
    const counters = createCounters();
    await fetch(blob, { counters });
    expect(blob.opened).toEqual([]);
    expect(counters).toMatchObject({ resumed: size, hashed: size, written: 0 });
  });

  it('makes an empty blob', async () => {
    await fetch(createDistantBlob(0));
    expect(statSync(path).size).toBe(0);
  });

  it.each([
    ['other bytes', (bytes: Buffer) => bytes.subarray(0, kept).fill(0, 100, 200)],
    ['all, with other bytes', (bytes: Buffer) => bytes.fill(0, 100, 200)],
    ['more than the blob', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('more')])],
  ])('begins again when there is %s', async (_what, spoil) => {
    const blob = createDistantBlob(size);
    writeFileSync(path, spoil(Buffer.from(blob.bytes)));
    const watching = watch();
    await fetch(blob, watching);
    expect(readFileSync(path).equals(blob.bytes)).toBe(true);
    expect(blob.opened.at(-1)).toEqual({ start: 0, end: size });
    expect(watching.bytes).toBe(size);
  });

  it('begins again where the place gives whole blobs only', async () => {
    const error = createError('registry/unsupported', { message: 'Cannot fetch the blob from the midst' });
    const blob = createDistantBlob(size, { breakAt: 0, error });
    writeFileSync(path, blob.bytes.subarray(0, kept));
    await fetch(blob);
    expect(blob.opened.map(({ start }) => start)).toEqual([kept, 0]);
    expect(readFileSync(path).equals(blob.bytes)).toBe(true);
    const stubborn = createDistantBlob(size, { breakAt: kept, error });
    rmSync(path);
    await expect(fetch(stubborn)).rejects.toBe(error);
    expect(stubborn.opened).toHaveLength(1);
  });

  it('refuses wrong bytes at once and keeps nothing', async () => {
    const blob = createDistantBlob(size, { spoil: (bytes) => bytes.fill(0, 5, 9) });
    await expect(fetch(blob)).rejects.toMatchObject({ code: 'bytes/digest-mismatch', message: expect.stringContaining(blob.descriptor.digest) });
    expect(blob.opened).toHaveLength(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('tries wrong bytes once more when it went on, and then keeps nothing', async () => {
    const blob = createDistantBlob(size, { spoil: (bytes) => bytes.fill(0, 2_000_000, 2_000_009) });
    writeFileSync(path, blob.bytes.subarray(0, kept));
    await expect(fetch(blob)).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect(blob.opened.map(({ start }) => start)).toEqual([kept, 0]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ['less', (bytes: Buffer) => bytes.subarray(0, size - 1)],
    ['more', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('more')])],
  ])('refuses %s than was promised', async (_what, spoil) => {
    await expect(fetch(createDistantBlob(size, { spoil }))).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps what came before the world broke in, and goes on from there', async () => {
    const blob = createDistantBlob(size, { breakAt: kept });
    await expect(fetch(blob)).rejects.toMatchObject({ code: 'registry/interrupted' });
    expect(statSync(path).size).toBe(kept);
    const counters = createCounters();
    await fetch(blob, { counters });
    expect(counters).toMatchObject({ resumed: kept, written: size - kept });
    expect(readFileSync(path).equals(blob.bytes)).toBe(true);
  });

  it('keeps nothing where nothing came', async () => {
    await expect(fetch(createDistantBlob(size, { breakAt: 0 }))).rejects.toMatchObject({ code: 'registry/interrupted' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps nothing when the package is to blame', async () => {
    const error = createError('store/blob-missing', { message: 'Cannot read the blob: it is not there' });
    await expect(fetch(createDistantBlob(size, { breakAt: kept, error }))).rejects.toBe(error);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps what is there when it is cancelled', async () => {
    const abort = new AbortController();
    const onBytes = () => abort.abort();
    await expect(fetch(createDistantBlob(size), { signal: abort.signal, onBytes })).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(statSync(path).size).toBeGreaterThan(0);
  });

  it('hands the open file over once all is proven', async () => {
    const blob = createDistantBlob(size);
    await fetch(blob, { finish: () => chmodSync(path, 0o444) });
    expect(statSync(path).mode & 0o777).toBe(0o444);
    const spoiled = createDistantBlob(size, { spoil: (bytes) => bytes.fill(0, 0, 9) });
    const told: number[] = [];
    rmSync(path);
    await expect(fetch(spoiled, { finish: (handle) => void told.push(handle) })).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect(told).toEqual([]);
  });
});

describe('fetchBlob never writes into', () => {
  const blob = createDistantBlob(size);

  it.each([
    ['the target of a link', symlinkSync],
    ['a file that has another name', linkSync],
  ])('%s', async (_what, plant) => {
    const victim = join(folder, 'victim');
    writeFileSync(victim, blob.bytes.subarray(0, kept));
    plant(victim, path);
    const watching = watch();
    await fetch(blob, watching);
    expect(readFileSync(victim).equals(blob.bytes.subarray(0, kept))).toBe(true);
    expect(lstatSync(path)).toMatchObject({ nlink: 1, size });
    expect(lstatSync(path).isFile()).toBe(true);
    expect(watching.counters.resumed).toBe(0);
  });

  it('a folder', async () => {
    mkdirSync(path);
    writeFileSync(join(path, 'x'), 'x');
    await fetch(blob);
    expect(statSync(path).size).toBe(size);
  });

  it('a pipe', async () => {
    execFileSync('mkfifo', [path]);
    await fetch(blob);
    expect(statSync(path).size).toBe(size);
  });

  it('a folder that is not there', async () => {
    await expect(fetchBlob(blob.blobs, blob.descriptor, join(path, 'deep'))).rejects.toMatchObject({ code: 'bytes/not-found' });
    expect(existsSync(path)).toBe(false);
  });
});
