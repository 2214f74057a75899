import type { Transform } from 'node:stream';
import { type ByteStream, isToolkitError } from '../../core/index.js';

/** One of the codecs of `node:zlib`. `bytesWritten` is what it has really used of its input. */
export type Codec = Transform & { readonly bytesWritten: number };

/**
 * Bytes through a codec, which works on another thread meanwhile. The next chunk is asked for only when the codec has taken all of
 * this one, so that reused buffers are safe. A codec that ends before it used everything makes `onRest` throw.
 */
export async function* throughCodec(stream: ByteStream, codec: Codec, onRest: () => Error): ByteStream {
  const fed = { bytes: 0 };
  const feeding = feed(stream, codec, fed);
  try {
    for await (const chunk of codec) yield chunk as Buffer;
    if (!codec.writableEnded || codec.bytesWritten !== fed.bytes) throw onRest();
  } finally {
    codec.destroy();
    await feeding;
  }
}

async function feed(stream: ByteStream, codec: Codec, fed: { bytes: number }): Promise<void> {
  let wake = () => {};
  codec.once('close', () => wake());
  try {
    for await (const chunk of stream) {
      fed.bytes += chunk.byteLength;
      await new Promise<void>((resolve) => {
        wake = resolve;
        codec.write(chunk, () => resolve());
      });
      if (codec.destroyed) return;
    }
    codec.end();
  } catch (error) {
    codec.destroy(error as Error);
  }
}

/** Turns what the codec itself says into an error of ours; what fails below it passes unchanged. */
export async function* withoutZlibErrors(stream: ByteStream, toError: (reason: string, cause: unknown) => Error): ByteStream {
  try {
    yield* stream;
  } catch (error) {
    throw isZlibError(error) ? toError(error.message, error) : error;
  }
}

function isZlibError(error: unknown): error is Error {
  return error instanceof Error && !isToolkitError(error) && /^(Z|ZSTD)_/.test(String((error as { code?: unknown }).code));
}
