import type { ByteStream } from '../core/index.js';
import { badCompression } from './bad-compression.js';
import type { UnzstdOptions } from './zstd-decoder.js';
import { Xxhash64 } from './xxhash64.js';
import type { ZstdFrameWalker } from './zstd-frames.js';

/** What fzstd is given at once: it hands out all it can before it returns, up to 32 KiB for a byte. */
const biteBytes = 16 * 1024;

/** The decoder for Nodes without zstd. fzstd does not look at checksums, so that is done here. */
export async function* decodePortably(pieces: AsyncGenerator<Uint8Array>, walker: ZstdFrameWalker, { where, meter }: UnzstdOptions): ByteStream {
  const { Decompress } = await import('fzstd');
  const ready: Uint8Array[] = [];
  const hash = new Xxhash64();
  const decoder = new Decompress((block) => {
    meter.output(block.byteLength);
    if (walker.header?.checksum === true) hash.update(block);
    if (block.byteLength > 0) ready.push(block);
  });
  const push = (bytes: Uint8Array, last: boolean) => {
    try {
      decoder.push(bytes, last);
    } catch (error) {
      throw isOfFzstd(error) ? badCompression('zstd', where, error.message, error) : error;
    }
    return ready.splice(0);
  };
  for await (const piece of pieces) {
    for (let at = 0; at < piece.byteLength; at += biteBytes) yield* push(Buffer.from(piece.subarray(at, at + biteBytes)), false);
  }
  yield* push(new Uint8Array(0), true);
  if (walker.checksum !== undefined && Number(hash.digest() & 0xffffffffn) !== walker.checksum)
    throw badCompression('zstd', where, 'the checksum of a frame does not match its content');
}

/** Its own errors have a number as code; damaged tables also make it run out of its arrays. */
function isOfFzstd(error: unknown): error is Error {
  return (
    error instanceof RangeError || error instanceof TypeError || (error instanceof Error && typeof (error as { code?: unknown }).code === 'number')
  );
}
