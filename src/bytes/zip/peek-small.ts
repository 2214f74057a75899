import type { ByteStream } from '../../core/index.js';

/** What a stream of unknown length turned out to be. */
export type PeekedStream = { readonly kind: 'small'; readonly bytes: Buffer } | { readonly kind: 'long'; readonly stream: ByteStream };

/** Reads up to `limit` bytes ahead, to see whether that is all. The long stream is to be read or ended. */
export async function peekSmall(stream: ByteStream, limit: number): Promise<PeekedStream> {
  const iterator = stream[Symbol.asyncIterator]();
  const held: Buffer[] = [];
  let size = 0;
  while (size <= limit) {
    const next = await iterator.next();
    if (next.done === true) return { kind: 'small', bytes: Buffer.concat(held, size) };
    held.push(Buffer.from(next.value));
    size += next.value.byteLength;
  }
  return { kind: 'long', stream: continued(held, iterator) };
}

async function* continued(held: readonly Buffer[], iterator: AsyncIterator<Uint8Array>): ByteStream {
  try {
    yield* held;
    yield* { [Symbol.asyncIterator]: () => iterator };
  } finally {
    await iterator.return?.();
  }
}
