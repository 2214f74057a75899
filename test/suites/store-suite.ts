import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ByteRange, type ContentStore, type Descriptor, type Digest, isDigest, type StoredBlob } from '../../src/core/index.js';

export interface StoreUnderTest {
  readonly store: ContentStore;
  close(): Promise<void>;
}

const text = 'the bytes of a model';
const bytes = Buffer.from(text);

function digestOf(content: Uint8Array, algorithm: 'sha256' | 'sha512' = 'sha256'): Digest {
  const digest = `${algorithm}:${createHash(algorithm).update(content).digest('hex')}`;
  if (!isDigest(digest)) throw new Error(digest);
  return digest;
}

function toDescriptor({ digest, size }: Pick<StoredBlob, 'digest' | 'size'>): Descriptor {
  return { mediaType: 'application/octet-stream', digest, size };
}

async function readText(store: ContentStore, blob: Pick<StoredBlob, 'digest' | 'size'>, range?: ByteRange): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.open(toDescriptor(blob), range)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

function streamOf(...chunks: readonly string[]) {
  return {
    kind: 'stream' as const,
    open: async () =>
      (async function* () {
        for (const chunk of chunks) yield Buffer.from(chunk);
      })(),
  };
}

/** What every ContentStore keeps to. `make` gets an empty folder and gives a fresh, empty store. */
export function storeSuite(title: string, make: (folder: string) => Promise<StoreUnderTest>): void {
  describe(`${title} as a ContentStore`, () => {
    let folder: string;
    let subject: StoreUnderTest;
    let store: ContentStore;

    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'store-suite-'));
      subject = await make(folder);
      store = subject.store;
    });

    afterEach(async () => {
      await subject.close();
      rmSync(folder, { recursive: true });
    });

    it('has nothing at first', async () => {
      expect(await store.list()).toEqual([]);
      expect(await store.resolve('a')).toBeUndefined();
      expect(await store.has(toDescriptor({ digest: digestOf(bytes), size: bytes.length }))).toBe(false);
      await expect(readText(store, { digest: digestOf(bytes), size: bytes.length })).rejects.toMatchObject({ code: 'store/blob-missing' });
    });

    it('gives back the bytes that were put, whole and in part', async () => {
      const blob = await store.put({ kind: 'bytes', bytes });
      expect(blob).toMatchObject({ digest: digestOf(bytes), size: bytes.length, fresh: true });
      expect(await store.has(toDescriptor(blob))).toBe(true);
      expect(await readText(store, blob)).toBe(text);
      expect(await readText(store, blob, { start: 4, end: 9 })).toBe('bytes');
      expect(await readText(store, blob, { start: 15 })).toBe('model');
    });

    it('takes files, streams of known and unknown size, tars and the empty blob', async () => {
      const path = join(folder, 'source.bin');
      writeFileSync(path, bytes);
      const file = { kind: 'file' as const, path, size: bytes.length };
      expect(await store.put(file)).toMatchObject({ digest: digestOf(bytes) });
      expect(await readText(store, await store.put(streamOf('a', 'bc')))).toBe('abc');
      expect(await readText(store, await store.put({ ...streamOf('de', 'f'), size: 3 }))).toBe('def');
      expect(await readText(store, await store.put({ kind: 'bytes', bytes: new Uint8Array() }))).toBe('');
      const tar = await store.put({ kind: 'tar', compression: 'none', members: [{ name: 'w.bin', mode: 0o644, mtime: 0, content: file }] });
      expect(tar.size % 512).toBe(0);
      expect(await readText(store, tar)).toContain(text);
    });

    it('says that it held a blob already', async () => {
      const blob = await store.put({ kind: 'bytes', bytes });
      expect(await store.put({ kind: 'bytes', bytes })).toMatchObject({ digest: blob.digest, fresh: false });
    });

    it('does not open content whose digest it holds', async () => {
      const expected = await store.put({ kind: 'bytes', bytes });
      const content = { kind: 'stream' as const, open: () => Promise.reject(new Error('opened')) };
      expect(await store.put(content, { expected })).toMatchObject({ digest: expected.digest, size: expected.size, fresh: false });
    });

    it.each([
      ['another digest', { digest: digestOf(Buffer.from('x')), size: bytes.length }, 'bytes/digest-mismatch'],
      ['more bytes', { digest: digestOf(bytes), size: bytes.length + 1 }, 'bytes/size-mismatch'],
      ['fewer bytes', { digest: digestOf(bytes), size: bytes.length - 1 }, 'bytes/size-mismatch'],
      ['another sha512', { digest: digestOf(Buffer.from('x'), 'sha512'), size: bytes.length }, 'bytes/digest-mismatch'],
    ])('refuses content of which %s was promised, and keeps nothing of it', async (_what, expected, code) => {
      for (const content of [streamOf('the bytes ', 'of a model'), { kind: 'bytes' as const, bytes }]) {
        await expect(store.put(content, { expected })).rejects.toMatchObject({ code });
      }
      expect(await store.has(toDescriptor({ digest: digestOf(bytes), size: bytes.length }))).toBe(false);
      expect(await store.has(toDescriptor(expected))).toBe(false);
      expect(await store.put({ kind: 'bytes', bytes })).toMatchObject({ fresh: true });
    });

    it('stops reading a stream that is longer than promised', async () => {
      let yielded = 0;
      const endless = {
        kind: 'stream' as const,
        open: async () =>
          (async function* () {
            for (; yielded < 1000; yielded++) yield bytes;
          })(),
      };
      await expect(store.put(endless, { expected: { digest: digestOf(bytes), size: bytes.length } })).rejects.toMatchObject({
        code: 'bytes/size-mismatch',
      });
      expect(yielded).toBeLessThan(5);
    });

    it('keeps nothing of a stream that breaks off', async () => {
      const breaking = {
        kind: 'stream' as const,
        open: async () =>
          (async function* () {
            yield bytes;
            throw new Error('line cut');
          })(),
      };
      await expect(store.put(breaking)).rejects.toThrow(/line cut/);
      expect(await store.has(toDescriptor({ digest: digestOf(bytes), size: bytes.length }))).toBe(false);
      expect(await readText(store, await store.put(streamOf('next')))).toBe('next');
    });

    it('names a blob by sha512 when that is what was promised', async () => {
      const expected = { digest: digestOf(bytes, 'sha512'), size: bytes.length };
      expect(await store.put(streamOf(text), { expected })).toMatchObject({ ...expected, fresh: true });
      expect(await readText(store, expected)).toBe(text);
    });

    it('refuses to open a blob as one of another size', async () => {
      const { digest } = await store.put({ kind: 'bytes', bytes });
      await expect(readText(store, { digest, size: 3 })).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
      expect(await store.has(toDescriptor({ digest, size: 3 }))).toBe(false);
    });

    it('sets, moves and lists names', async () => {
      const first = toDescriptor(await store.put({ kind: 'bytes', bytes }));
      const second = toDescriptor(await store.put(streamOf('other')));
      await store.tag('demo/a:1', first);
      await store.tag('demo/b:1', first);
      await store.tag('demo/a:1', second);
      expect(await store.resolve('demo/a:1')).toMatchObject(second);
      expect(await store.resolve('demo/b:1')).toMatchObject(first);
      expect((await store.list()).map(({ name, descriptor }) => [name, descriptor.digest]).toSorted()).toEqual([
        ['demo/a:1', second.digest],
        ['demo/b:1', first.digest],
      ]);
    });

    it('names nothing that it does not hold', async () => {
      const absent = toDescriptor({ digest: digestOf(bytes), size: bytes.length });
      await expect(store.tag('a', absent)).rejects.toMatchObject({ code: 'store/blob-missing' });
      expect(await store.list()).toEqual([]);
    });

    it('takes the same blob from many at once', async () => {
      const blobs = await Promise.all(Array.from({ length: 8 }, () => store.put(streamOf('the bytes ', 'of a model'))));
      expect(new Set(blobs.map(({ digest }) => digest))).toEqual(new Set([digestOf(bytes)]));
      expect(await readText(store, blobs[0] as StoredBlob)).toBe(text);
    });

    it('stops a put that is cancelled', async () => {
      await expect(store.put(streamOf(text), { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'core/cancelled' });
      expect(await store.has(toDescriptor({ digest: digestOf(bytes), size: bytes.length }))).toBe(false);
    });
  });
}
