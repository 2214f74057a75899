import type { ByteStream, Limits } from '../core/index.js';
import type { ByteMeter } from './byte-meter.js';
import type { ZstdFrameWalker } from './zstd-frames.js';

export interface UnzstdOptions {
  readonly limits: Limits;
  readonly where: string;
  readonly meter: ByteMeter;
}

/**
 * Decodes exactly one frame and tells the meter of what comes out. The walker has judged the bytes before they are handed on: it
 * knows the header after the first few, the checksum after the last.
 */
export type FrameDecoder = (pieces: AsyncGenerator<Uint8Array>, walker: ZstdFrameWalker, options: UnzstdOptions) => ByteStream;
