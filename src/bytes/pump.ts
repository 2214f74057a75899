import type { ByteCounters, ByteStream } from '../core/index.js';
import type { StreamHash } from './threads/stream-hash.js';

/** Where bytes are written in order; a chunk is done with when the promise resolves. */
export interface ChunkOutput {
  write(chunk: Uint8Array): Promise<void>;
}

/**
 * Hashes a stream, and writes it where there is an output: a chunk is worked on while the next one is made. Gives the number of bytes, and
 * counts what was hashed and written.
 */
export async function pump(
  stream: ByteStream,
  hash: Pick<StreamHash, 'update'>,
  output: ChunkOutput | undefined,
  counters: ByteCounters,
): Promise<number> {
  let size = 0;
  let before: Promise<unknown> = Promise.resolve();
  try {
    for await (const chunk of stream) {
      await before;
      before = Promise.all([output?.write(chunk), hash.update(chunk)]);
      before.catch(() => {});
      size += chunk.byteLength;
      counters.hashed += chunk.byteLength;
      if (output !== undefined) counters.written += chunk.byteLength;
    }
    await before;
    return size;
  } finally {
    await before.catch(() => {});
  }
}
