import type { ByteStream } from '../core/index.js';
import { badCompression } from './bad-compression.js';
import type { FrameDecoder, UnzstdOptions } from './zstd-decoder.js';
import { ZstdFrameWalker } from './zstd-frames.js';
import { nativeDecoder } from './zstd-native.js';
import { decodePortably } from './zstd-portable.js';

/**
 * All frames after each other, each given to a decoder of its own: Node's lose frames and take cut ones for whole. Skippable
 * frames give nothing. Anything else between frames, and a stream without any, is refused.
 */
export async function* unzstd(stream: ByteStream, options: UnzstdOptions, decode: FrameDecoder = nativeDecoder ?? decodePortably): ByteStream {
  const source = new FrameSource(stream, options);
  try {
    if (!(await source.more())) throw badCompression('zstd', options.where, 'it is empty');
    while (await source.more()) yield* wholeContent(decode(source.frame(), source.walker, options), source.walker, options.where);
  } finally {
    await source.close();
  }
}

async function* wholeContent(content: ByteStream, walker: ZstdFrameWalker, where: string): ByteStream {
  let found = 0;
  for await (const chunk of content) {
    found += chunk.byteLength;
    yield chunk;
  }
  if (!walker.ended) throw badCompression('zstd', where, 'a frame ended before its last block');
  const expected = walker.header?.contentBytes ?? found;
  if (found !== expected) throw badCompression('zstd', where, `a frame holds ${found} bytes, expected ${expected}`);
}

/** Cuts a stream into frames. */
class FrameSource {
  readonly walker: ZstdFrameWalker;
  readonly #where: string;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk = new Uint8Array(0);
  #at = 0;

  constructor(stream: ByteStream, { limits, where }: UnzstdOptions) {
    this.walker = new ZstdFrameWalker(limits, where);
    this.#where = where;
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** Whether there is another byte. */
  async more(): Promise<boolean> {
    while (this.#at === this.#chunk.byteLength) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#chunk = next.value as Uint8Array<ArrayBuffer>;
      this.#at = 0;
    }
    return true;
  }

  /** The bytes of the next frame, to be taken before `more` is asked again. */
  async *frame(): AsyncGenerator<Uint8Array> {
    do {
      if (!(await this.more())) throw badCompression('zstd', this.#where, 'it is cut off inside a frame');
      const start = this.#at;
      this.#at = this.walker.advance(this.#chunk, start);
      yield this.#chunk.subarray(start, this.#at);
    } while (!this.walker.ended);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
