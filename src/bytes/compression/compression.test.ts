import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ByteStream, defaultLimits, isToolkitError, type Limits } from '../../core/index.js';
import { ByteMeter } from './byte-meter.js';
import { compress, decompress, sniffCompression } from './compression.js';
import { collect, fromBytes } from '../streams.js';
import { unzstd } from './unzstd.js';
import { Xxhash64 } from './xxhash64.js';
import type { ZstdDecoder } from './zstd-decoder.js';
import { decodeNatively } from './zstd-native.js';
import { decodePortably } from './zstd-portable.js';

async function* inPieces(bytes: Uint8Array, size: number): ByteStream {
  // A buffer that is overwritten for each chunk, as file streams do.
  const buffer = Buffer.alloc(size);
  for (let at = 0; at < bytes.byteLength; at += size) {
    const piece = bytes.subarray(at, at + size);
    buffer.fill(0xee);
    buffer.set(piece);
    yield buffer.subarray(0, piece.byteLength);
  }
}

const toBuffer = async (stream: ByteStream) => Buffer.from(await collect(stream, 1e9, 'test'));

/** Both decoders where Node has its own; they have to agree in everything. */
const zstdDecoders: readonly ZstdDecoder[] = [decodePortably, ...(decodeNatively === undefined ? [] : [decodeNatively])];

function unzstdWith(decoder: ZstdDecoder, bytes: Uint8Array, pieceBytes = 1 << 20, limits: Limits = defaultLimits): Promise<Buffer> {
  return toBuffer(unzstd(inPieces(bytes, pieceBytes), { limits, where: 'test.zst', meter: new ByteMeter(limits, 'test.zst') }, decoder));
}

function decompressors(kind: 'gzip' | 'zstd'): ((bytes: Uint8Array, pieceBytes?: number, limits?: Limits) => Promise<Buffer>)[] {
  if (kind === 'zstd') return zstdDecoders.map((decoder) => (bytes, pieceBytes, limits) => unzstdWith(decoder, bytes, pieceBytes, limits));
  return [
    (bytes, pieceBytes = 1 << 20, limits = defaultLimits) => toBuffer(decompress(inPieces(bytes, pieceBytes), 'gzip', { limits, where: 'test.gz' })),
  ];
}

/** Reproducible bytes that compress a little. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[index] = (state >>> 24) & 0x3f;
  }
  return bytes;
}

const samples: readonly [string, Buffer][] = [
  ['nothing', Buffer.alloc(0)],
  ['a word', Buffer.from('hello')],
  ['two frames and a bit', Buffer.concat([noise(5_000_000), Buffer.alloc(4_000_000)])],
];

describe.each(['gzip', 'zstd'] as const)('%s', (kind) => {
  it.each(samples)('gives back %s, however the bytes are cut', async (_, bytes) => {
    const packed = await toBuffer(compress(inPieces(bytes, 99_991), kind));
    for (const decode of decompressors(kind)) {
      for (const size of [1 << 20, 10_007]) expect((await decode(packed, size)).equals(bytes)).toBe(true);
    }
    expect((await toBuffer(decompress(fromBytes(packed), kind, { limits: defaultLimits, where: 'x' }))).equals(bytes)).toBe(true);
    expect(sniffCompression(packed)).toBe(kind);
  });

  it('reads several members or frames as one', async () => {
    const parts = await Promise.all([noise(100_000), Buffer.alloc(0), Buffer.from('end')].map((bytes) => toBuffer(compress(fromBytes(bytes), kind))));
    for (const decode of decompressors(kind)) {
      for (const size of [1, 1000, 1 << 20]) expect((await decode(Buffer.concat(parts), size)).length).toBe(100_003);
    }
  });

  it('refuses what is cut off anywhere and what follows the end', async () => {
    const packed = await toBuffer(compress(fromBytes(noise(3000)), kind));
    const refused = { code: 'bytes/bad-compression' };
    for (const decode of decompressors(kind)) {
      for (let length = 0; length < packed.length; length += length < 40 || length > packed.length - 20 ? 1 : 97)
        await expect(decode(packed.subarray(0, length))).rejects.toMatchObject(refused);
      for (const junk of ['junk', '\0', '\0'.repeat(600), '\0\0junk']) {
        const bytes = Buffer.concat([packed, Buffer.from(junk)]);
        for (const size of [1 << 20, packed.length, 7]) await expect(decode(bytes, size)).rejects.toMatchObject(refused);
      }
      await expect(decode(Buffer.concat([packed, packed.subarray(0, 9)]))).rejects.toMatchObject(refused);
    }
  });

  it('stops a bomb', async () => {
    const packed = await toBuffer(compress(fromBytes(Buffer.alloc(3_000_000)), kind));
    for (const decode of decompressors(kind)) {
      await expect(decode(packed, 1 << 20, { ...defaultLimits, unpackedBytes: 2_000_000 })).rejects.toMatchObject({ code: 'bytes/limit' });
      await expect(decode(packed, 1 << 20, { ...defaultLimits, ratioFloorBytes: 1000, compressionRatio: 100 })).rejects.toMatchObject({
        code: 'bytes/limit',
      });
    }
  });

  it('passes on what goes wrong below, and closes it when the reader stops', async () => {
    const packed = await toBuffer(compress(fromBytes(noise(3_000_000)), kind));
    const failing = async function* (): ByteStream {
      yield packed.subarray(0, 1000);
      throw new Error('the line is dead');
    };
    const options = { limits: defaultLimits, where: 'x' };
    await expect(toBuffer(decompress(failing(), kind, options))).rejects.toThrow('the line is dead');
    await expect(toBuffer(compress(failing(), kind))).rejects.toThrow('the line is dead');
    let closed = false;
    const watched = async function* (): ByteStream {
      try {
        for (;;) yield packed;
      } finally {
        closed = true;
      }
    };
    for await (const _ of decompress(watched(), kind, options)) break;
    expect(closed).toBe(true);
  });

  it('never makes anything but a ToolkitError of damaged bytes', async () => {
    const content = noise(2000);
    const packed = await toBuffer(compress(fromBytes(content), kind));
    await fc.assert(
      fc.asyncProperty(fc.nat(packed.length - 1), fc.nat(255), fc.integer({ min: 1, max: 3000 }), async (at, value, size) => {
        const bytes = Buffer.from(packed);
        bytes[at] = value;
        for (const decode of decompressors(kind)) await decode(bytes, size).catch((error: unknown) => expect(isToolkitError(error)).toBe(true));
      }),
      { numRuns: 150 },
    );
  });
});

describe('the bytes written', () => {
  it('gzip has no time, no name and no operating system', async () => {
    const packed = await toBuffer(compress(fromBytes(Buffer.from('hello')), 'gzip'));
    expect([...packed.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  });

  it('zstd is the same on every Node', async () => {
    const packed = await toBuffer(compress(fromBytes(noise(5_000_000)), 'zstd'));
    expect(createHash('sha256').update(packed).digest('hex')).toBe('8ebc27cc0ba4eed8cf78a1b13de78ca0aabb7b146c093943a7a9d0fe936d883f');
  });
});

/** A frame by hand: descriptor, the header's other bytes, then blocks. */
function frame(descriptor: number, header: number[], ...blocks: Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, descriptor, ...header]), ...blocks]);
}

function block(type: number, size: number, content: Buffer | string, last = true): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((size << 3) | (type << 1) | (last ? 1 : 0), 0, 3);
  return Buffer.concat([header, Buffer.from(content)]);
}

function skippable(size: number, content: Buffer): Buffer {
  const header = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]);
  header.writeUInt32LE(size, 4);
  return Buffer.concat([header, content]);
}

describe('zstd frames', () => {
  const abc = block(0, 3, 'abc');

  it.each<[string, Buffer, string]>([
    ['raw blocks', frame(0, [0], block(0, 3, 'abc', false), block(0, 2, 'de')), 'abcde'],
    ['a repeated byte', frame(0, [0], block(1, 5, 'x')), 'xxxxx'],
    ['a single segment', frame(0x20, [3], abc), 'abc'],
    ['an empty last block', frame(0, [0], block(0, 3, 'abc', false), block(0, 0, '')), 'abc'],
    ['a dictionary of id 0', frame(1, [0, 0], abc), 'abc'],
    ['skippable frames around', Buffer.concat([skippable(2, Buffer.from('xy')), frame(0, [0], abc), skippable(0, Buffer.alloc(0))]), 'abc'],
    ['a checksum', Buffer.concat([frame(4, [0], abc), checksum('abc')]), 'abc'],
  ])('%s', async (_, bytes, text) => {
    for (const decoder of zstdDecoders) {
      for (const size of [1, 1 << 20]) expect((await unzstdWith(decoder, bytes, size)).toString()).toBe(text);
    }
  });

  it.each<[string, Buffer, string]>([
    ['a window of 256 MiB', frame(0, [18 << 3], abc), 'bytes/limit'],
    ['a single segment above the window limit', frame(0xa0, [0, 0, 0, 0x10], abc), 'bytes/limit'],
    ['a skippable frame above its limit', skippable(0x7fffffff, Buffer.alloc(10)), 'bytes/limit'],
    ['a dictionary', frame(1, [0, 7], abc), 'bytes/bad-compression'],
    ['the reserved bit', frame(8, [0], abc), 'bytes/bad-compression'],
    ['the reserved block type', frame(0, [0], block(3, 3, 'abc')), 'bytes/bad-compression'],
    ['a block larger than the window', frame(0x20, [3], block(1, 4, 'x')), 'bytes/bad-compression'],
    ['fewer bytes than the header says', frame(0x20, [4], abc), 'bytes/bad-compression'],
    ['more bytes than the header says', frame(0x40, [0, 0, 0], block(1, 300, 'x')), 'bytes/bad-compression'],
    ['a wrong checksum', Buffer.concat([frame(4, [0], abc), checksum('abd')]), 'bytes/bad-compression'],
    ['no last block', frame(0, [0], block(0, 3, 'abc', false)), 'bytes/bad-compression'],
    ['no frame', Buffer.alloc(0), 'bytes/bad-compression'],
    ['another format', gzipSync('abc'), 'bytes/bad-compression'],
  ])('%s is refused', async (_, bytes, code) => {
    for (const decoder of zstdDecoders) {
      for (const size of [1, 1 << 20]) await expect(unzstdWith(decoder, bytes, size)).rejects.toMatchObject({ code });
    }
  });

  it('limits how many there are', async () => {
    const many = Buffer.concat(Array.from({ length: 5 }, () => frame(0, [0], abc)));
    for (const decoder of zstdDecoders)
      await expect(unzstdWith(decoder, many, 10, { ...defaultLimits, zstdFrames: 4 })).rejects.toMatchObject({ code: 'bytes/limit' });
  });
});

function checksum(text: string): Buffer {
  const hash = new Xxhash64();
  hash.update(Buffer.from(text));
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(Number(hash.digest() & 0xffffffffn));
  return bytes;
}

describe('xxhash64', () => {
  it.each([
    ['', 'ef46db3751d8e999'],
    ['a', 'd24ec4f1a98c6e5b'],
    ['abc', '44bc2cf5ad770999'],
    ['Nobody inspects the spammish repetition', 'fbcea83c8a378bf1'],
  ])('of %j', (text, expected) => {
    const hash = new Xxhash64();
    hash.update(Buffer.from(text));
    expect(hash.digest().toString(16)).toBe(expected);
  });

  it('does not depend on how the bytes are cut', () => {
    const bytes = noise(1000);
    const whole = new Xxhash64();
    whole.update(bytes);
    for (const size of [1, 7, 31, 32, 33, 500]) {
      const cut = new Xxhash64();
      for (let at = 0; at < bytes.length; at += size) cut.update(bytes.subarray(at, at + size));
      expect(cut.digest()).toBe(whole.digest());
    }
  });
});

it('knows compressions by their first bytes', () => {
  expect(sniffCompression(gzipSync('x'))).toBe('gzip');
  expect(sniffCompression(skippable(0, Buffer.alloc(0)))).toBe('zstd');
  for (const bytes of [[], [0x28, 0xb5], [0x28, 0xb5, 0x2f, 0xfe], [0x50, 0x4b, 3, 4]]) expect(sniffCompression(Uint8Array.from(bytes))).toBe('none');
});
