import type { ByteStream, Limits } from '../../core/index.js';
import type { ByteMeter } from './byte-meter.js';
import type { ZstdFrameWalker } from './zstd-frames.js';

export interface UnzstdOptions {
  readonly limits: Limits;
  readonly where: string;
  readonly meter: ByteMeter;
}

/**
 * Decodes frames after each other and tells the meter of what comes out. The walker has judged each piece before it is handed on; no
 * piece holds bytes of two frames, and the walker says `ended` while the last piece of a frame is worked on.
 */
export type ZstdDecoder = (pieces: ByteStream, walker: ZstdFrameWalker, options: UnzstdOptions) => ByteStream;
