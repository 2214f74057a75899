import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ByteStream, createError, defaultLimits } from '../../core/index.js';
import { collect } from '../streams.js';
import { compress } from './compression.js';
import { decodeContent } from './content-encoding.js';

const plain = Buffer.from(Array.from({ length: 8000 }, (_, at) => `line ${at} ${Math.imul(at, 2654435761)}\n`).join(''));
const where = 'a.test/file';

async function* pieces(bytes: Uint8Array, size: number): ByteStream {
  for (let at = 0; at < bytes.byteLength; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

const toBrotli = (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } });
const toZstd = (bytes: Uint8Array) => collect(compress(pieces(bytes, 1e6), 'zstd'), 1e9, 'zstd');
const decode = (bytes: Uint8Array, encodings: string, limits = defaultLimits, size = 50_000) =>
  collect(decodeContent(pieces(bytes, size), encodings, { limits, where }), 1e9, 'it');

const made: [string, () => Uint8Array | Promise<Uint8Array>][] = [
  ['', () => plain],
  ['identity', () => plain],
  ['gzip', () => gzipSync(plain)],
  ['X-GZip', () => gzipSync(plain)],
  ['deflate', () => deflateSync(plain)],
  ['deflate', () => deflateRawSync(plain)],
  ['br', () => toBrotli(plain)],
  ['zstd', () => toZstd(plain)],
  ['gzip, br', () => toBrotli(gzipSync(plain))],
  [' identity ,deflate,, zstd', () => toZstd(deflateSync(plain))],
];

describe('content', () => {
  it.each(made)('encoded as "%s" is decoded, however it is cut', async (encodings, make) => {
    const bytes = await make();
    expect(Buffer.from(await decode(bytes, encodings)).equals(plain)).toBe(true);
    expect(Buffer.from(await decode(bytes, encodings, defaultLimits, 997)).equals(plain)).toBe(true);
  });

  it('begins with a single byte', async () => {
    expect(await decode(deflateSync('small'), 'deflate', defaultLimits, 1)).toEqual(Buffer.from('small'));
    expect(await decode(deflateRawSync('small'), 'deflate', defaultLimits, 1)).toEqual(Buffer.from('small'));
  });

  it.each(made.slice(2))('encoded as "%s" is refused when it is cut off, followed by something, or garbage', async (encodings, make) => {
    const bytes = await make();
    for (const bad of [bytes.subarray(0, bytes.byteLength - 3), Buffer.concat([bytes, Buffer.from('xx')]), Buffer.from('garbage, not a stream')]) {
      await expect(decode(bad, encodings)).rejects.toMatchObject({ code: 'bytes/bad-compression', message: expect.stringContaining(where) });
    }
  });

  it.each(['compress', 'toString', 'gzip, aws-chunked', 'x\u001b[2J'])('encoded as %j is refused', (encodings) => {
    const open = () => decodeContent(pieces(plain, 1000), encodings, { limits: defaultLimits, where });
    expect(open).toThrow(expect.objectContaining({ code: 'bytes/bad-compression', message: expect.not.stringContaining('\u001b') }));
  });

  it('encoded ever again is refused', () => {
    const open = () => decodeContent(pieces(plain, 1000), 'gzip, gzip, gzip, gzip, gzip', { limits: defaultLimits, where });
    expect(open).toThrow('encoded 5 times, expected at most 4');
  });

  it.each(['deflate', 'br', 'gzip', 'zstd'])('is limited: %s', async (encoding) => {
    const encode = async (bytes: Uint8Array) =>
      ({ deflate: deflateSync(bytes), br: toBrotli(bytes), gzip: gzipSync(bytes), zstd: await toZstd(bytes) })[encoding] ?? plain;
    const limits = { ...defaultLimits, unpackedBytes: plain.byteLength - 1 };
    await expect(decode(await encode(plain), encoding, limits)).rejects.toMatchObject({ code: 'bytes/limit' });
    const bomb = await encode(Buffer.alloc(1024 * 1024));
    const strict = { ...defaultLimits, ratioFloorBytes: 1024, compressionRatio: 100 };
    await expect(decode(bomb, encoding, strict)).rejects.toMatchObject({ code: 'bytes/limit' });
  });

  it('passes on what fails below, and ends what lies below', async () => {
    let ended = 0;
    async function* broken(bytes: Uint8Array): ByteStream {
      try {
        yield bytes.subarray(0, 1000);
        throw createError('registry/interrupted', { message: 'Cannot go on' });
      } finally {
        ended++;
      }
    }
    for (const [encoding, bytes] of [
      ['deflate', deflateSync(plain)],
      ['br', toBrotli(plain)],
    ] as const) {
      const reading = collect(decodeContent(broken(bytes), encoding, { limits: defaultLimits, where }), 1e9, 'it');
      await expect(reading).rejects.toMatchObject({ code: 'registry/interrupted' });
    }
    expect(ended).toBe(2);
  });
});
