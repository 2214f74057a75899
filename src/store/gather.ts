import { allocateRing, lastChunk } from '../bytes/index.js';
import type { ByteStream } from '../core/index.js';

/** What is written and hashed at a time: a socket gives a tenth of it, and each piece has its price. */
const gatheredBytes = 512 * 1024;

/** Large enough to be handed on as it is. */
const wholeBytes = 256 * 1024;

/**
 * The same bytes in larger chunks. What had come before `stream` failed is handed on too. `expectedBytes` is how many will come: of many the chunks
 * lie where a hash thread reads them, few are not worth it.
 */
export function gather(stream: ByteStream, expectedBytes: number): ByteStream {
  return expectedBytes <= wholeBytes ? stream : gatherAll(stream, expectedBytes);
}

async function* gatherAll(stream: ByteStream, expectedBytes: number): ByteStream {
  const ring = allocateRing(gatheredBytes, expectedBytes);
  let buffer = ring.next();
  let filled = 0;
  const take = () => {
    const bytes = buffer.subarray(0, filled);
    buffer = ring.next();
    filled = 0;
    return bytes;
  };
  const failures: unknown[] = [];
  let isDone = false;
  try {
    // A chunk that was handed on is worked on until the next one is: before that only one more may be asked for.
    let isLent = false;
    for await (const chunk of untilFailure(stream, failures)) {
      if (chunk.byteLength === 0 || chunk.byteLength >= wholeBytes) {
        if (filled > 0) yield take();
        yield chunk;
        isLent = chunk.byteLength > 0;
        continue;
      }
      for (let done = 0; done < chunk.byteLength; isLent = false) {
        const count = Math.min(chunk.byteLength - done, buffer.byteLength - filled);
        buffer.set(chunk.subarray(done, done + count), filled);
        [filled, done] = [filled + count, done + count];
        if (filled === buffer.byteLength || isLent) yield take();
      }
    }
    if (filled > 0) yield take();
    yield lastChunk;
    isDone = true;
  } finally {
    ring.end(isDone);
  }
  if (failures.length > 0) throw failures[0];
}

async function* untilFailure(stream: ByteStream, failures: unknown[]): ByteStream {
  try {
    yield* stream;
  } catch (error) {
    failures.push(error);
  }
}
