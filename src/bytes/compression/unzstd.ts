import type { ByteStream } from '../../core/index.js';
import { badCompression } from './bad-compression.js';
import type { UnzstdOptions, ZstdDecoder } from './zstd-decoder.js';
import { ZstdFrameWalker } from './zstd-frames.js';
import { decodeNatively } from './zstd-native.js';
import { decodePortably } from './zstd-portable.js';

/**
 * All frames after each other; skippable ones give nothing. Anything else between frames, a cut frame, and a stream without any is
 * refused.
 */
export function unzstd(stream: ByteStream, options: UnzstdOptions, decode: ZstdDecoder = decodeNatively ?? decodePortably): ByteStream {
  const walker = new ZstdFrameWalker(options.limits, options.where);
  return decode(cutIntoFrames(stream, walker, options.where), walker, options);
}

/** Node's own decoders drop what follows a frame in the same write, and some take a cut stream for a whole one. */
async function* cutIntoFrames(stream: ByteStream, walker: ZstdFrameWalker, where: string): ByteStream {
  let empty = true;
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.byteLength; empty = false) {
      const start = at;
      at = walker.advance(chunk, start);
      yield chunk.subarray(start, at);
    }
  }
  if (empty) throw badCompression('zstd', where, 'it is empty');
  if (!walker.ended) throw badCompression('zstd', where, 'it is cut off inside a frame');
}
