import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ByteStream,
  createError,
  type Descriptor,
  type Digest,
  type DigestAlgorithm,
  type GrowingBlob,
  isDigest,
  type NamedDescriptor,
  type RegistryStore,
} from '../../src/core/index.js';
import { createDistantBlob, makeBytes } from '../support/distant-blob.js';

const repository = 'demo/digits';

export function digestBytes(bytes: Uint8Array, algorithm: DigestAlgorithm = 'sha256'): Digest {
  const digest = `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
  if (!isDigest(digest)) throw new Error(digest);
  return digest;
}

/** In pieces of the given length, each in the buffer of the one before the last: whoever keeps a piece too long reads another. */
export async function* inPieces(bytes: Uint8Array, pieceBytes: number, failAfter = Infinity): ByteStream {
  const buffers = [Buffer.alloc(pieceBytes), Buffer.alloc(pieceBytes)];
  for (let at = 0, turn = 0; at < bytes.byteLength; at += pieceBytes, turn++) {
    if (at >= failAfter) throw createError('registry/interrupted', { message: 'Cannot go on: the line was cut' });
    const piece = bytes.subarray(at, at + pieceBytes);
    const buffer = buffers[turn % 2]!;
    buffer.set(piece);
    yield buffer.subarray(0, piece.byteLength);
    // The one before was in work until now, and is not any more.
    buffers[(turn + 1) % 2]!.fill(0);
  }
}

export async function readAll(growing: GrowingBlob, bufferBytes = 100_000): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const buffer = Buffer.alloc(bufferBytes);
  for (let at = 0; ;) {
    const count = await growing.read(buffer, at);
    if (count === 0) return Buffer.concat(chunks);
    chunks.push(Buffer.from(buffer.subarray(0, count)));
    at += count;
  }
}

async function readBlob(store: RegistryStore, digest: Digest, size: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.open({ mediaType: 'application/octet-stream', digest, size })) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** What every RegistryStore keeps to beyond what a ContentStore does. `make` gets an empty folder and gives a fresh, empty store. */
export function registryStoreSuite(title: string, make: (folder: string) => Promise<RegistryStore>): void {
  describe(`${title} as a RegistryStore`, () => {
    let folder: string;
    let store: RegistryStore;
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'registry-store-'));
      store = await make(folder);
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    const putText = async (text: string): Promise<Descriptor> => {
      const { digest, size } = await store.put({ kind: 'bytes', bytes: Buffer.from(text) });
      return { mediaType: 'application/octet-stream', digest, size };
    };
    const absent: Descriptor = { mediaType: 'application/octet-stream', digest: digestBytes(Buffer.from('absent')), size: 6 };

    describe('roots', () => {
      const namesOf = (roots: readonly NamedDescriptor[]) => roots.map(({ name, descriptor }) => [name, descriptor.digest]);

      it('are none at first, and the same array until something changes', async () => {
        expect(store.readRoots()).toEqual([]);
        expect(store.readRoots()).toBe(store.readRoots());
        const descriptor = await putText('a');
        await store.changeRoots(() => [{ name: 'a:1', descriptor }]);
        const roots = store.readRoots();
        expect(namesOf(roots)).toEqual([['a:1', descriptor.digest]]);
        await store.changeRoots((all) => all);
        expect(store.readRoots()).toBe(roots);
      });

      it('come, go and move as one, with names and without', async () => {
        const [one, two] = [await putText('1'), await putText('2')];
        const held = { ...two, annotations: { 'dev.modelport.repository': 'demo' } };
        await store.changeRoots((all) => [...all, { name: 'demo:1', descriptor: one }, { descriptor: held }]);
        expect(store.readRoots()[1]).toMatchObject({ descriptor: held });
        await store.changeRoots((all) => [...all.filter(({ name }) => name === undefined), { name: 'demo:2', descriptor: one }]);
        expect(namesOf(store.readRoots())).toEqual([
          [undefined, two.digest],
          ['demo:2', one.digest],
        ]);
        expect(await store.resolve('demo:2')).toMatchObject({ digest: one.digest });
        expect(await store.resolve('demo:1')).toBeUndefined();
      });

      it('are seen by the other ways to names, and see those', async () => {
        const [one, two] = [await putText('1'), await putText('2')];
        await store.tag('demo:1', one);
        expect(namesOf(store.readRoots())).toEqual([['demo:1', one.digest]]);
        await store.changeRoots((all) => [...all, { name: 'demo:1', descriptor: two }]);
        expect(namesOf(await store.list())).toEqual([['demo:1', two.digest]]);
        expect(await store.resolve('demo:1')).toMatchObject({ digest: two.digest });
      });

      it('are not changed by what throws, or for what is not there', async () => {
        const descriptor = await putText('a');
        await store.changeRoots(() => [{ name: 'a:1', descriptor }]);
        const before = store.readRoots();
        const failing = store.changeRoots(() => {
          throw new Error('no');
        });
        await expect(failing).rejects.toThrow('no');
        await expect(store.changeRoots((all) => [...all, { name: 'a:2', descriptor: absent }])).rejects.toMatchObject({ code: 'store/blob-missing' });
        await expect(store.changeRoots((all) => [...all, { descriptor: { ...descriptor, size: 9 } }])).rejects.toMatchObject({
          code: 'bytes/size-mismatch',
        });
        expect(store.readRoots()).toBe(before);
      });

      it('lose none of many changes at once, and one that fails hurts no other', async () => {
        const descriptor = await putText('a');
        const changes = Array.from({ length: 60 }, (_, number) =>
          store.changeRoots((all) => [...all, { name: `a:${number}`, descriptor: number % 10 === 9 ? absent : descriptor }]),
        );
        const settled = await Promise.allSettled(changes);
        expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(6);
        expect(new Set(store.readRoots().map(({ name }) => name)).size).toBe(54);
      });
    });

    describe('claims', () => {
      it('stand for one repository and one blob, while the blob is there', async () => {
        const { digest } = await putText('a');
        expect(store.hasClaim(repository, digest)).toBe(false);
        await store.claim(repository, digest);
        await store.claim(repository, digest);
        await store.claim(repository, absent.digest);
        expect(store.hasClaim(repository, digest)).toBe(true);
        expect(store.hasClaim(repository, absent.digest)).toBe(false);
        expect(store.hasClaim('demo', digest)).toBe(false);
        expect(store.hasClaim('demo/digits/more', digest)).toBe(false);
        expect(store.listClaims(repository)).toEqual([digest]);
        expect(store.listClaims('demo')).toEqual([]);
      });

      it('of names within names are told apart', async () => {
        const [one, two] = [await putText('1'), await putText('2')];
        await store.claim('demo', one.digest);
        await store.claim('demo/digits', two.digest);
        expect(store.listClaims('demo')).toEqual([one.digest]);
        expect(store.listClaims('demo/digits')).toEqual([two.digest]);
        expect([...store.listClaimants()].toSorted()).toEqual(['demo', 'demo/digits']);
      });

      it('are dropped once, and the blob stays', async () => {
        const blob = await putText('a');
        await store.claim(repository, blob.digest);
        expect(await store.dropClaim(repository, blob.digest)).toBe(true);
        expect(await store.dropClaim(repository, blob.digest)).toBe(false);
        expect(store.hasClaim(repository, blob.digest)).toBe(false);
        expect(store.listClaimants()).toEqual([]);
        expect(await store.has(blob)).toBe(true);
      });

      it('are refused for what is no name', async () => {
        const { digest } = await putText('a');
        for (const name of ['', '..', '../a', 'a/../b', 'A', '_', 'a/_', 'a//b', '/a', 'a/', 'a\0b', 'a'.repeat(300)]) {
          expect(() => store.hasClaim(name, digest)).toThrow(expect.objectContaining({ code: 'core/bad-reference' }));
          await expect(store.claim(name, digest)).rejects.toMatchObject({ code: 'core/bad-reference' });
          await expect(store.beginUpload(name, 'sha256')).rejects.toMatchObject({ code: 'core/bad-reference' });
        }
      });

      it('touching says whether a blob is there', async () => {
        const { digest } = await putText('a');
        expect([store.touch(digest), store.touch(absent.digest)]).toEqual([true, false]);
      });
    });

    describe('uploads', () => {
      const bytes = makeBytes(3_000_000);
      const digest = digestBytes(bytes);

      it.each([
        ['one piece', 3_000_000],
        ['pieces of a socket', 65_536],
        ['odd pieces', 300_001],
        ['tiny pieces', 4_999],
      ])('come as %s', async (_what, pieceBytes) => {
        const upload = await store.beginUpload(repository, 'sha256');
        expect(upload).toMatchObject({ id: expect.stringMatching(/^[0-9a-f]{32}$/), repository, size: 0 });
        await upload.append(inPieces(bytes, pieceBytes), bytes.length);
        expect(upload.size).toBe(bytes.length);
        expect(await upload.finish(digest)).toEqual({ digest, size: bytes.length, fresh: true });
        expect((await readBlob(store, digest, bytes.length)).equals(bytes)).toBe(true);
        expect(store.hasClaim(repository, digest)).toBe(true);
        expect([store.countUploads(), await store.findUpload(upload.id)]).toEqual([0, undefined]);
      });

      it('come in several requests, of known length or not, and may be of nothing', async () => {
        const upload = await store.beginUpload(repository, 'sha256');
        await upload.append(inPieces(bytes.subarray(0, 100), 30));
        await upload.append(inPieces(bytes.subarray(100, 2_000_000), 65_536), 1_999_900);
        await upload.append(inPieces(bytes.subarray(2_000_000), 10_000), 1);
        expect(await upload.finish(digest)).toMatchObject({ size: bytes.length });
        const empty = await store.beginUpload(repository, 'sha256');
        expect(await empty.finish(digestBytes(Buffer.alloc(0)))).toMatchObject({ size: 0, fresh: true });
        const appended = await store.beginUpload(repository, 'sha256');
        await appended.append(inPieces(Buffer.alloc(0), 1), 0);
        expect(await appended.finish(digestBytes(Buffer.alloc(0)))).toMatchObject({ size: 0, fresh: false });
      });

      it.each<[DigestAlgorithm, DigestAlgorithm]>([
        ['sha512', 'sha512'],
        ['sha256', 'sha512'],
        ['sha512', 'sha256'],
      ])('that were begun for %s are finished by %s', async (begun, finished) => {
        const upload = await store.beginUpload(repository, begun);
        await upload.append(inPieces(bytes, 65_536), bytes.length);
        const name = digestBytes(bytes, finished);
        expect(await upload.finish(name)).toMatchObject({ digest: name });
        expect((await readBlob(store, name, bytes.length)).equals(bytes)).toBe(true);
      });

      it('of other bytes than promised are refused, and over', async () => {
        const upload = await store.beginUpload(repository, 'sha256');
        await upload.append(inPieces(bytes, 65_536), bytes.length);
        await expect(upload.finish(absent.digest)).rejects.toMatchObject({ code: 'bytes/digest-mismatch', where: absent.digest });
        expect([store.countUploads(), await store.findUpload(upload.id)]).toEqual([0, undefined]);
        expect(await store.findBlob(digest)).toBeUndefined();
        expect(await store.findBlob(absent.digest)).toBeUndefined();
        expect(store.listClaims(repository)).toEqual([]);
        await expect(upload.append(inPieces(bytes, 65_536))).rejects.toMatchObject({ code: 'bytes/not-found' });
      });

      it.each([1_310_720, 65_536])('keep what came before a stream broke off after %s bytes', async (failAfter) => {
        const upload = await store.beginUpload(repository, 'sha256');
        await expect(upload.append(inPieces(bytes, 65_536, failAfter), bytes.length)).rejects.toMatchObject({ code: 'registry/interrupted' });
        expect(upload.size).toBe(failAfter);
        await upload.append(inPieces(bytes.subarray(upload.size), 65_536), bytes.length - upload.size);
        expect(await upload.finish(digest)).toMatchObject({ digest });
      });

      it('are for one caller at a time', async () => {
        const upload = await store.beginUpload(repository, 'sha256');
        const gate: { open: () => void } = { open: () => {} };
        const waiting = new Promise<void>((resolve) => (gate.open = resolve));
        const slow = async function* () {
          yield bytes.subarray(0, 1000);
          await waiting;
          yield bytes.subarray(1000);
        };
        const first = upload.append(slow(), bytes.length);
        for (const second of [upload.append(inPieces(bytes, 1000)), upload.finish(digest), upload.cancel()]) {
          await expect(second).rejects.toMatchObject({ code: 'store/locked', message: expect.stringContaining('somebody else is at work on it') });
        }
        gate.open();
        await first;
        expect(await upload.finish(digest)).toMatchObject({ size: bytes.length });
      });

      it('are found by id, counted and cancelled', async () => {
        const uploads = await Promise.all([1, 2, 3].map(() => store.beginUpload(repository, 'sha256')));
        expect(new Set(uploads.map(({ id }) => id)).size).toBe(3);
        expect(store.countUploads()).toBe(3);
        const [first] = uploads;
        expect(await store.findUpload(first!.id)).toBe(first);
        await first!.cancel();
        expect([store.countUploads(), await store.findUpload(first!.id)]).toEqual([2, undefined]);
        await expect(first!.cancel()).rejects.toMatchObject({ code: 'bytes/not-found' });
      });

      it.each(['', '.', '..', 'x', '0'.repeat(31), '0'.repeat(32), '0'.repeat(33), 'A'.repeat(32), `../uploads/${'0'.repeat(32)}`])(
        'are not found by %j',
        async (id) => {
          await store.beginUpload(repository, 'sha256');
          expect(await store.findUpload(id)).toBeUndefined();
        },
      );

      it('that nobody goes on with are purged, younger ones not', async () => {
        const upload = await store.beginUpload(repository, 'sha256');
        await upload.append(inPieces(bytes, 65_536), bytes.length);
        expect(await store.purgeUploads(60_000)).toBe(0);
        expect(await store.findUpload(upload.id)).toBe(upload);
        expect(await store.purgeUploads(0)).toBe(1);
        expect([store.countUploads(), await store.findUpload(upload.id)]).toEqual([0, undefined]);
      });

      it('of the same bytes at once all succeed', async () => {
        const finish = async () => {
          const upload = await store.beginUpload(repository, 'sha256');
          await upload.append(inPieces(bytes, 65_536), bytes.length);
          return upload.finish(digest);
        };
        const blobs = await Promise.all(Array.from({ length: 6 }, finish));
        expect(blobs.filter(({ fresh }) => fresh)).toHaveLength(1);
        expect((await readBlob(store, digest, bytes.length)).equals(bytes)).toBe(true);
      });
    });

    describe('relay', () => {
      const small = 200_000;

      it('puts a blob and gives its bytes, from any offset', async () => {
        const distant = createDistantBlob(small);
        const growing = await store.relay({ kind: 'blob', ...distant });
        expect((await readAll(growing, 30_000)).equals(distant.bytes)).toBe(true);
        const buffer = Buffer.alloc(10);
        expect(await growing.read(buffer, small - 4)).toBe(4);
        expect(buffer.subarray(0, 4).equals(distant.bytes.subarray(-4))).toBe(true);
        await growing.close();
        expect(await store.has(distant.descriptor)).toBe(true);
      });

      it('fetches once for many, and not what is there', async () => {
        const distant = createDistantBlob(small);
        const read = async () => {
          const growing = await store.relay({ kind: 'blob', ...distant });
          const bytes = await readAll(growing);
          await growing.close();
          return bytes.equals(distant.bytes);
        };
        expect(await Promise.all([read(), read(), read()])).toEqual([true, true, true]);
        expect(await read()).toBe(true);
        expect(distant.opened).toHaveLength(1);
      });

      it('says what is wrong with the place or its bytes, and asks anew the next time', async () => {
        const broken = createDistantBlob(small, { breakAt: 1000 });
        await expect(store.relay({ kind: 'blob', ...broken })).rejects.toMatchObject({ code: 'registry/interrupted' });
        await (await store.relay({ kind: 'blob', ...broken })).close();
        const spoilt = createDistantBlob(small, { seed: 'other', spoil: (bytes) => bytes.fill(0, 0, 9) });
        await expect(store.relay({ kind: 'blob', ...spoilt })).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
        expect(await store.has(spoilt.descriptor)).toBe(false);
      });

      it('gives up when everybody has', async () => {
        const [one, two] = [new AbortController(), new AbortController()];
        const distant = createDistantBlob(small, {
          beforeChunk: async () => {
            one.abort();
            two.abort();
          },
        });
        const asked = [store.relay({ kind: 'blob', ...distant }, one.signal), store.relay({ kind: 'blob', ...distant }, two.signal)];
        for (const each of asked) await expect(each).rejects.toMatchObject({ code: 'core/cancelled' });
        expect(await store.has(distant.descriptor)).toBe(false);
      });

      it('goes on when one of two gives up, or when nobody reads', async () => {
        const abort = new AbortController();
        const distant = createDistantBlob(small, { beforeChunk: async () => abort.abort() });
        const asked = [store.relay({ kind: 'blob', ...distant }, abort.signal), store.relay({ kind: 'blob', ...distant })];
        for (const each of asked) await (await each).close();
        expect(await store.has(distant.descriptor)).toBe(true);
      });
    });
  });
}
