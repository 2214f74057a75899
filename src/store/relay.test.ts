import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAll } from '../../test/suites/registry-store-suite.js';
import { createDistantBlob } from '../../test/support/distant-blob.js';
import { type ByteCounters, createCounters } from '../core/index.js';
import { toBlobPath } from './blob-path.js';
import { type LayoutRegistryStore, openRegistryStore } from './index.js';
import { toPartial } from './partials.js';
import { receivedBytes } from './receive-blob.js';

const size = receivedBytes + 1000;
const half = 9_000_000;

let folder: string;
let counters: ByteCounters;
let store: LayoutRegistryStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'relay-'));
  counters = createCounters();
  store = await openRegistryStore(join(folder, 'layout'), { create: true, counters });
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Holds a stream when it gets to `at` until it is opened. */
function createGate(at: number) {
  const gate = { open: () => {}, reached: () => {} };
  const opened = new Promise<void>((resolve) => (gate.open = resolve));
  const reached = new Promise<void>((resolve) => (gate.reached = resolve));
  const beforeChunk = async (position: number) => {
    if (position < at) return;
    gate.reached();
    await opened;
  };
  return { beforeChunk, reached, open: () => gate.open() };
}

type Distant = ReturnType<typeof createDistantBlob>;
const relay = (blob: Distant) => store.relay({ kind: 'blob', blobs: blob.blobs, descriptor: blob.descriptor });

describe('relay of a large blob', () => {
  it('gives what has come while the rest still comes, and its end only when all is proven', async () => {
    const gate = createGate(15_000_000);
    const blob = createDistantBlob(size, { beforeChunk: gate.beforeChunk });
    const readers = await Promise.all([relay(blob), relay(blob)]);
    await gate.reached;
    const buffer = Buffer.alloc(1000);
    for (const reader of readers) {
      expect(await reader.read(buffer, 0)).toBe(1000);
      expect(buffer.equals(blob.bytes.subarray(0, 1000))).toBe(true);
      expect(await reader.read(buffer, 14_000_000)).toBe(1000);
      expect(buffer.equals(blob.bytes.subarray(14_000_000, 14_001_000))).toBe(true);
    }
    expect(await store.has(blob.descriptor)).toBe(false);
    const order: string[] = [];
    const ends = readers.map(async (reader) => {
      await reader.read(Buffer.alloc(1), size - 1);
      order.push(existsSync(toBlobPath(store.path, blob.descriptor.digest)) ? 'stored' : 'unproven');
    });
    gate.open();
    const all = await Promise.all(readers.map((reader) => readAll(reader)));
    expect(all.map((bytes) => bytes.equals(blob.bytes))).toEqual([true, true]);
    await Promise.all(ends);
    expect(order).toEqual(['stored', 'stored']);
    expect(blob.opened).toHaveLength(1);
    expect(counters).toMatchObject({ hashed: size, written: size });
    for (const reader of readers) await reader.close();
  });

  it('keeps its end back while bytes that have all come are not proven yet', async () => {
    const gate = createGate(size);
    const blob = createDistantBlob(size);
    const open = async () =>
      (async function* () {
        yield* await blob.blobs.open(blob.descriptor);
        // Whoever asks for more after an empty chunk is done with all before.
        yield new Uint8Array(0);
        yield new Uint8Array(0);
        await gate.beforeChunk(size);
      })();
    const reader = await store.relay({ kind: 'blob', blobs: { ...blob.blobs, open }, descriptor: blob.descriptor });
    await gate.reached;
    const buffer = Buffer.alloc(size);
    expect(await reader.read(buffer, 0)).toBe(size - 65_536);
    let isOut = false;
    const last = reader.read(Buffer.alloc(1), size - 65_536).finally(() => (isOut = true));
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(isOut).toBe(false);
    gate.open();
    expect(await last).toBe(1);
    await reader.close();
  });

  it('lets somebody join late, and go early', async () => {
    const gate = createGate(half);
    const blob = createDistantBlob(size, { beforeChunk: gate.beforeChunk });
    const early = await relay(blob);
    expect(await early.read(Buffer.alloc(10), 0)).toBe(10);
    await early.close();
    const late = await relay(blob);
    gate.open();
    expect((await readAll(late)).equals(blob.bytes)).toBe(true);
    await late.close();
    expect(blob.opened).toHaveLength(1);
  });

  it('fails for all when the place does; the next one goes on from there', async () => {
    const blob = createDistantBlob(size, { breakAt: half });
    const readers = await Promise.all([relay(blob), relay(blob)]);
    for (const reader of readers) {
      await expect(readAll(reader)).rejects.toMatchObject({ code: 'registry/interrupted' });
      await reader.close();
    }
    const next = await relay(blob);
    expect((await readAll(next)).equals(blob.bytes)).toBe(true);
    await next.close();
    expect(blob.opened.at(-1)).toMatchObject({ start: half });
    expect(counters.resumed).toBe(half);
  });

  it('gives nobody the end of wrong bytes', async () => {
    const blob = createDistantBlob(size, { spoil: (bytes) => bytes.fill(0, half, half + 9) });
    const reader = await relay(blob);
    const buffer = Buffer.alloc(1_000_000);
    const read = async () => {
      for (let at = 0; ;) at += await reader.read(buffer, at);
    };
    await expect(read()).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    await expect(reader.read(buffer, size - 10)).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    await reader.close();
    expect(await store.has(blob.descriptor)).toBe(false);
  });

  it('does not splice what an earlier run left wrong with what comes anew', async () => {
    const gate = createGate(half + 300_000);
    const blob = createDistantBlob(size, { beforeChunk: gate.beforeChunk });
    const partial = toPartial(store.path, blob.descriptor.digest);
    mkdirSync(dirname(partial.path), { recursive: true });
    writeFileSync(partial.path, Buffer.alloc(half), { mode: 0o600 });
    const [misled, patient] = await Promise.all([relay(blob), relay(blob)]);
    expect(await misled.read(Buffer.alloc(10), 0)).toBe(10);
    gate.open();
    await expect(readAll(misled)).rejects.toMatchObject({ code: 'bytes/file-changed' });
    while (!(await store.has(blob.descriptor))) await new Promise(setImmediate);
    expect((await readAll(patient)).equals(blob.bytes)).toBe(true);
    await misled.close();
    await patient.close();
  });

  it('reads a blob that is there, and never through a link', async () => {
    const blob = createDistantBlob(size);
    await store.put({ kind: 'blob', blobs: blob.blobs, descriptor: blob.descriptor });
    const reader = await relay(blob);
    expect((await readAll(reader)).equals(blob.bytes)).toBe(true);
    await reader.close();
    expect(blob.opened).toHaveLength(1);
    const path = toBlobPath(store.path, blob.descriptor.digest);
    const outside = join(folder, 'outside');
    writeFileSync(outside, readFileSync(path));
    rmSync(path);
    symlinkSync(outside, path);
    await expect(relay(blob)).rejects.toMatchObject({ code: 'bytes/io' });
    expect(statSync(outside).size).toBe(size);
  });
});
