import type { ByteStream, Compression, Limits } from '../core/index.js';
import { ByteMeter } from './byte-meter.js';
import { gunzip, gzip } from './gzip.js';
import { unzstd } from './unzstd.js';
import { zstd } from './zstd.js';
import { frameMagic, isSkippableMagic } from './zstd-frames.js';

/**
 * Compresses at one fixed level. zstd: independent frames of 4 MiB, the same bytes on every version of Node. gzip: no name, no
 * time; the same bytes wherever zlib is the same.
 */
export function compress(stream: ByteStream, compression: Exclude<Compression, 'none'>): ByteStream {
  return compression === 'gzip' ? gzip(stream) : zstd(stream);
}

/**
 * Decompresses to the very end: all members or frames, nothing between or after them, nothing cut off, else
 * `bytes/bad-compression`. Output, its ratio to the input and zstd's window are limited (`bytes/limit`); zstd frames that need
 * a dictionary are refused. `where` names the stream in errors.
 */
export async function* decompress(stream: ByteStream, compression: Exclude<Compression, 'none'>, options: { readonly limits: Limits; readonly where: string }): ByteStream {
  const meter = new ByteMeter(options.limits, options.where);
  const input = meter.input(stream);
  if (compression === 'zstd') return yield* unzstd(input, { ...options, meter });
  for await (const chunk of gunzip(input, options.where)) {
    meter.output(chunk.byteLength);
    yield chunk;
  }
}

/** What the first bytes say; four are enough. Fewer, or others, are `none`. */
export function sniffCompression(first: Uint8Array): Compression {
  if (first[0] === 0x1f && first[1] === 0x8b) return 'gzip';
  if (first.byteLength < 4) return 'none';
  const magic = new DataView(first.buffer, first.byteOffset, 4).getUint32(0, true);
  return magic === frameMagic || isSkippableMagic(magic) ? 'zstd' : 'none';
}
