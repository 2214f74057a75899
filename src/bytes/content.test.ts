import { appendFileSync, mkdtempSync, rmSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  type BlobContent,
  type ByteRange,
  type ByteStream,
  createCounters,
  defaultLimits,
  type Descriptor,
  type Digest,
  type FileContent,
  type PartContent,
  type TarMember,
} from '../core/index.js';
import { decompress } from './compression/compression.js';
import { openContent } from './content.js';
import { accessPart, openPart } from './part-content.js';
import { collect, digestOf, fromBytes } from './streams.js';
import { readTar } from './tar/tar-read.js';
import { tarSize } from './tar/tar-write.js';

const folder = mkdtempSync(join(tmpdir(), 'modelport-content-'));
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;

function file(bytes: Uint8Array): FileContent {
  const path = join(folder, `file-${made++}`);
  writeFileSync(path, bytes);
  return { kind: 'file', path, size: bytes.byteLength };
}

const toBuffer = async (stream: ByteStream) => Buffer.from(await collect(stream, 1e9, 'test'));
const member = (name: string, content: TarMember['content']): TarMember => ({ name, mode: 0o644, mtime: 1_700_000_000, content });
const large = Buffer.alloc(3_000_000, 'large ');
const members = () => [
  member('dir', { kind: 'directory' }),
  member('dir/small', file(Buffer.from('small'))),
  member('dir/large', file(large)),
  member('stream', { kind: 'stream', size: 3, open: async () => fromBytes(Buffer.from('abc')) }),
  member('none', file(Buffer.alloc(0))),
];

describe('openContent', () => {
  it.each<[string, () => BlobContent]>([
    ['bytes', () => ({ kind: 'bytes', bytes: large })],
    ['a file', () => file(large)],
    ['a stream', () => ({ kind: 'stream', open: async () => fromBytes(large) })],
    ['a stream of known size', () => ({ kind: 'stream', size: large.length, open: async () => fromBytes(large) })],
  ])('gives %s', async (_, content) => {
    expect((await toBuffer(openContent(content()))).equals(large)).toBe(true);
  });

  it('frames a tar of the size that was computed, reading each file once', async () => {
    const counters = createCounters();
    const list = members();
    const bytes = await toBuffer(openContent({ kind: 'tar', members: list, compression: 'none' }, { counters }));
    expect(bytes.length).toBe(tarSize(list));
    expect(counters).toMatchObject({ read: large.length + 5, hashed: 0, written: 0, skipped: 0 });
    const sizes: [string, number][] = [];
    await readTar(fromBytes(bytes), { limits: defaultLimits, where: 'x' }, ({ name, size }) => void sizes.push([name, size]));
    expect(sizes).toEqual([
      ['dir/', 0],
      ['dir/small', 5],
      ['dir/large', large.length],
      ['stream', 3],
      ['none', 0],
    ]);
  });

  it.each(['none', 'gzip', 'zstd'] as const)('reports the digest before compression (%s)', async (compression) => {
    const list = members();
    const plain = await toBuffer(openContent({ kind: 'tar', members: list, compression: 'none' }));
    let diffId: Digest | undefined;
    let seen = 0;
    const bytes = await toBuffer(
      openContent({ kind: 'tar', members: list, compression }, { onDiffId: (digest) => (diffId = digest), onBytes: (count) => (seen += count) }),
    );
    expect(diffId).toBe(digestOf(plain));
    expect(seen).toBe(plain.length);
    const unpacked =
      compression === 'none' ? bytes : await toBuffer(decompress(fromBytes(bytes), compression, { limits: defaultLimits, where: 'x' }));
    expect(unpacked.equals(plain)).toBe(true);
  });

  it.each([5, 3_000_000])('refuses a file of %d bytes that is not what it was', async (size) => {
    const changed = { code: 'bytes/file-changed' };
    const bytes = Buffer.alloc(size, 1);
    const asTar = (content: FileContent): BlobContent => ({ kind: 'tar', members: [member('a', content)], compression: 'none' });
    const longer = file(bytes);
    appendFileSync(longer.path, 'more');
    const shorter = file(bytes);
    truncateSync(shorter.path, size - 1);
    const replaced = { ...file(bytes), path: join(folder, 'absent') };
    for (const wrap of [(content: FileContent) => content, asTar]) {
      await expect(toBuffer(openContent(wrap(longer)))).rejects.toMatchObject({ ...changed, where: longer.path });
      await expect(toBuffer(openContent(wrap(shorter)))).rejects.toMatchObject(changed);
      await expect(toBuffer(openContent(wrap(replaced)))).rejects.toMatchObject({ code: 'bytes/not-found' });
    }
  });

  it('refuses a file that is written to, or only touched, while it is read', async () => {
    for (const change of [
      (path: string) => appendFileSync(path, 'x'),
      (path: string) => truncateSync(path, 2_000_000),
      (path: string) => utimesSync(path, 1, 1),
    ]) {
      const content = file(large);
      const reading = async () => {
        let first = true;
        for await (const _ of openContent(content)) {
          if (first) change(content.path);
          first = false;
        }
      };
      await expect(reading()).rejects.toMatchObject({ code: 'bytes/file-changed' });
    }
  });

  it('refuses a stream that is not as long as it said', async () => {
    for (const size of [2, 4])
      await expect(toBuffer(openContent({ kind: 'stream', size, open: async () => fromBytes(Buffer.from('abc')) }))).rejects.toMatchObject({
        code: 'bytes/size-mismatch',
      });
  });
});

const digits = Buffer.from('0123456789');

function partKinds(): Record<string, PartContent> {
  const layer = Buffer.concat([Buffer.from('before'), digits, Buffer.from('after')]);
  const blobs = (bytes: Buffer) => ({
    has: async () => true,
    open: async (_: Descriptor, range?: ByteRange) => fromBytes(bytes.subarray(range?.start ?? 0, range?.end)),
  });
  const descriptor = (bytes: Buffer): Descriptor => ({ mediaType: 'x', digest: digestOf(bytes), size: bytes.length });
  const stream = async function* (): ByteStream {
    for (const digit of digits) yield Buffer.from([digit]);
  };
  return {
    file: file(digits),
    blob: { kind: 'blob', blobs: blobs(digits), descriptor: descriptor(digits) },
    slice: { kind: 'slice', blobs: blobs(layer), descriptor: descriptor(layer), offset: 6, size: 10 },
    stream: { kind: 'stream', open: async () => stream() },
  };
}

describe.each(['file', 'blob', 'slice', 'stream'])('a part that is a %s', (kind) => {
  const part = () => partKinds()[kind] as PartContent;

  it('opens whole and by range', async () => {
    const read = async (range?: ByteRange) => (await toBuffer(await openPart(part(), range))).toString();
    expect(await read()).toBe('0123456789');
    expect(await read({ start: 3, end: 6 })).toBe('345');
    expect(await read({ start: 7 })).toBe('789');
    expect(await read({ start: 4, end: 4 })).toBe('');
  });

  it('is read forwards in pieces, and not past its end', async () => {
    const access = accessPart(part(), 10);
    expect(access.size).toBe(10);
    const text = async (offset: number, length: number) => Buffer.from(await access.read(offset, length)).toString();
    expect(await text(0, 2)).toBe('01');
    expect(await text(2, 3)).toBe('234');
    expect(await text(8, 2)).toBe('89');
    await expect(access.read(9, 2)).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
    await access.close();
  });
});

it('a forward-only part cannot go back, and is closed with its access', async () => {
  let closed = false;
  const open = async (): Promise<ByteStream> =>
    (async function* () {
      try {
        for (const digit of digits) yield Buffer.from([digit]);
      } finally {
        closed = true;
      }
    })();
  const access = accessPart({ kind: 'stream', open }, 10);
  await access.read(5, 1);
  await expect(access.read(2, 1)).rejects.toMatchObject({ code: 'core/bug' });
  await access.close();
  expect(closed).toBe(true);
});

it('a slice of unknown size opens only with an end', async () => {
  const { size: _, ...slice } = partKinds()['slice'] as PartContent & { kind: 'slice' };
  await expect(openPart(slice)).rejects.toMatchObject({ code: 'core/bug' });
  expect((await toBuffer(await openPart(slice, { start: 1, end: 3 }))).toString()).toBe('12');
});
