import { sizeMismatch } from '../bytes/index.js';
import type { ByteStream } from '../core/index.js';

/** The same bytes; throws `bytes/size-mismatch` when they are more or fewer. */
export async function* exactStream(stream: ByteStream, size: number, what: string): ByteStream {
  let found = 0;
  for await (const chunk of stream) {
    found += chunk.byteLength;
    if (found > size) throw sizeMismatch(what, size, `at least ${found}`);
    yield chunk;
  }
  if (found < size) throw sizeMismatch(what, size, String(found));
}
