import type { ByteStream } from '../../core/index.js';
import { badCompression } from './bad-compression.js';
import { Xxhash64 } from './xxhash64.js';
import type { UnzstdOptions } from './zstd-decoder.js';
import type { ZstdFrameWalker } from './zstd-frames.js';

/** What fzstd is given at once: it hands out all it can before it returns, up to 32 KiB for a byte. */
const biteBytes = 16 * 1024;

/** The decoder for Nodes without zstd. */
export async function* decodePortably(pieces: ByteStream, walker: ZstdFrameWalker, options: UnzstdOptions): ByteStream {
  const begin = await loadFrame(walker, options);
  let frame = begin();
  for await (const piece of pieces) {
    for (let at = 0; at < piece.byteLength; at += biteBytes) yield* frame.push(Buffer.from(piece.subarray(at, at + biteBytes)));
    if (!walker.ended) continue;
    yield* frame.end();
    frame = begin();
  }
}

interface Frame {
  push(bytes: Uint8Array): Uint8Array[];
  end(): Uint8Array[];
}

/** fzstd looks at neither the checksum nor the size that a frame promises, so both are judged here. */
async function loadFrame(walker: ZstdFrameWalker, { where, meter }: UnzstdOptions): Promise<() => Frame> {
  const { Decompress } = await import('fzstd');
  return () => {
    const hash = new Xxhash64();
    let ready: Uint8Array[] = [];
    let found = 0;
    const decoder = new Decompress((block) => {
      meter.output(block.byteLength);
      found += block.byteLength;
      if (walker.header?.checksum === true) hash.update(block);
      if (block.byteLength > 0) ready.push(block);
    });
    const push = (bytes: Uint8Array, last: boolean) => {
      ready = [];
      try {
        decoder.push(bytes, last);
      } catch (error) {
        throw isOfFzstd(error) ? badCompression('zstd', where, error.message, error) : error;
      }
      return ready;
    };
    const judge = () => {
      const expected = walker.header?.contentBytes ?? found;
      if (found !== expected) throw badCompression('zstd', where, `a frame holds ${found} bytes, expected ${expected}`);
      const matches = walker.checksum === undefined || walker.checksum === Number(hash.digest() & 0xffffffffn);
      if (!matches) throw badCompression('zstd', where, 'the checksum of a frame does not match its content');
    };
    return {
      push: (bytes) => push(bytes, false),
      end: () => {
        const rest = push(new Uint8Array(0), true);
        judge();
        return rest;
      },
    };
  };
}

/** Its own errors have a number as code; damaged tables also make it run out of its arrays. */
function isOfFzstd(error: unknown): error is Error {
  return (
    error instanceof RangeError || error instanceof TypeError || (error instanceof Error && typeof (error as { code?: unknown }).code === 'number')
  );
}
