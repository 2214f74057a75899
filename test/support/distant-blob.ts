import { createHash } from 'node:crypto';
import { digestOf } from '../../src/bytes/index.js';
import { type BlobSource, type ByteRange, type ByteStream, createError, type Descriptor } from '../../src/core/index.js';

export interface DistantOptions {
  /** What comes is not what the descriptor promises. */
  readonly spoil?: (bytes: Buffer) => Uint8Array;
  /** The first stream breaks when it gets there, the later ones do not. */
  readonly breakAt?: number;
  readonly error?: Error;
  /** Another name gives other bytes. */
  readonly seed?: string;
  /** Waits before each chunk. */
  readonly beforeChunk?: (position: number) => Promise<void>;
}

/** A blob of another place, and what was asked of that place. */
export interface DistantBlob {
  readonly blobs: BlobSource;
  readonly descriptor: Descriptor;
  readonly bytes: Buffer;
  readonly opened: ByteRange[];
  /** Bytes that were given out. */
  readonly sent: number;
}

const chunkBytes = 300_000;

/** Random bytes that are always the same. */
export function makeBytes(size: number, seed = 'seed'): Buffer {
  return createHash('shake256', { outputLength: Math.max(1, size) })
    .update(seed)
    .digest()
    .subarray(0, size);
}

export function createDistantBlob(size: number, { spoil, breakAt, error, seed, beforeChunk }: DistantOptions = {}): DistantBlob {
  const bytes = makeBytes(size, seed);
  const descriptor: Descriptor = { mediaType: 'application/octet-stream', digest: digestOf(bytes), size };
  const given = spoil?.(Buffer.from(bytes)) ?? bytes;
  const state = { sent: 0, opened: [] as ByteRange[] };
  async function* stream({ start, end = size }: ByteRange, until: number): ByteStream {
    const last = end >= size ? given.byteLength : end;
    for (let at = start; at < last;) {
      await beforeChunk?.(at);
      const chunk = Buffer.from(given.subarray(at, Math.min(at + chunkBytes, last, until)));
      if (chunk.byteLength === 0) throw error ?? createError('registry/interrupted', { message: 'Cannot fetch the blob: the connection broke' });
      at += chunk.byteLength;
      state.sent += chunk.byteLength;
      yield chunk;
    }
  }
  const open: BlobSource['open'] = async (asked, range = { start: 0 }) => {
    if (asked.digest !== descriptor.digest) throw createError('registry/not-found', { message: `Cannot find ${asked.digest}` });
    state.opened.push(range);
    return stream(range, state.opened.length === 1 ? (breakAt ?? Infinity) : Infinity);
  };
  return {
    blobs: { has: async (asked) => asked.digest === descriptor.digest, open },
    descriptor,
    bytes,
    opened: state.opened,
    get sent() {
      return state.sent;
    },
  };
}
