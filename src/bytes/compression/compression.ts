import type { ByteStream, Compression, Limits } from '../../core/index.js';
import { ByteMeter } from './byte-meter.js';
import { gunzip, gzip } from './gzip.js';
import { unzstd } from './unzstd.js';
import { zstd } from './zstd.js';
import { frameMagic, isSkippableMagic } from './zstd-frames.js';

export interface DecompressOptions {
  readonly limits: Limits;
  /** What the stream is called in errors. */
  readonly where: string;
}

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
 * a dictionary are refused.
 */
export function decompress(stream: ByteStream, compression: Exclude<Compression, 'none'>, { limits, where }: DecompressOptions): ByteStream {
  const meter = new ByteMeter(limits, where);
  const input = meter.input(stream);
  return compression === 'gzip' ? meter.watch(gunzip(input, where)) : unzstd(input, { limits, where, meter });
}

/** What the first bytes say; four are enough. Fewer, or others, are `none`. */
export function sniffCompression(first: Uint8Array): Compression {
  if (first[0] === 0x1f && first[1] === 0x8b) return 'gzip';
  if (first.byteLength < 4) return 'none';
  const magic = new DataView(first.buffer, first.byteOffset, 4).getUint32(0, true);
  return magic === frameMagic || isSkippableMagic(magic) ? 'zstd' : 'none';
}
