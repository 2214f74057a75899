import { createHash } from 'node:crypto';
import type { DigestAlgorithm } from '../../core/index.js';
import { lendBuffers } from './buffer-loan.js';
import { findByteThread, type ByteThread } from './byte-thread.js';

/** A hash over bytes that come in pieces. */
export interface StreamHash {
  /** The piece must stay as it is until the promise resolves. */
  update(bytes: Uint8Array): Promise<void>;
  /** In hex; the hash is used up. */
  digest(): Promise<string>;
  /** Gives up a hash that was not used up; to be called in any case. */
  drop(): void;
}

/** Starting a thread and telling it of every piece costs about as much as hashing this much. */
const threadBytes = 8 * 1024 * 1024;

let created = 0;

/** Starts a thread for a long stream that is about to come, so that it need not be waited for. */
export function expectStream(bytes: number): void {
  if (bytes >= threadBytes) findByteThread();
}

/**
 * A hash for about `expectedBytes`: a long one runs in a thread of its own, so that reading, hashing and writing go on side by side.
 * Pieces in shared memory are hashed where they are, others are copied first.
 */
export function createStreamHash(algorithm: DigestAlgorithm, expectedBytes: number): StreamHash {
  const thread = expectedBytes >= threadBytes ? findByteThread() : undefined;
  return thread === undefined ? hashHere(algorithm) : hashBeside(algorithm, thread);
}

function hashHere(algorithm: DigestAlgorithm): StreamHash {
  const hash = createHash(algorithm);
  return {
    update: async (bytes) => void hash.update(bytes),
    digest: async () => hash.digest('hex'),
    drop: () => {},
  };
}

function hashBeside(algorithm: DigestAlgorithm, thread: ByteThread): StreamHash {
  const hash = created++;
  const copies = new SharedCopies();
  let isOpen = true;
  return {
    update: async (bytes) => {
      const shared = bytes.buffer instanceof SharedArrayBuffer ? bytes : copies.take(bytes);
      await thread.ask({ kind: 'update', hash, algorithm, bytes: shared });
      if (shared !== bytes) copies.giveBack(shared);
    },
    digest: async () => {
      isOpen = false;
      return (await thread.ask({ kind: 'digest', hash, algorithm })).hex ?? '';
    },
    drop: () => {
      if (isOpen) thread.drop(hash);
      isOpen = false;
    },
  };
}

/** Shared memory is collected late, as the heap does not see how large it is: what was used is used again. */
class SharedCopies {
  #free: ArrayBufferLike[] = [];

  take(bytes: Uint8Array): Uint8Array {
    const fitting = this.#free.find(({ byteLength }) => byteLength >= bytes.byteLength);
    // Only ever the larger ones are kept.
    this.#free = fitting === undefined ? [] : this.#free.filter((buffer) => buffer !== fitting);
    const copy = new Uint8Array(fitting ?? new SharedArrayBuffer(bytes.byteLength), 0, bytes.byteLength);
    copy.set(bytes);
    return copy;
  }

  giveBack(copy: Uint8Array): void {
    this.#free.push(copy.buffer);
  }
}

/**
 * Buffers to be filled in turn, so many that a chunk stays valid until the second next one is asked for while another is read ahead. For
 * long streams in shared memory, where a hash thread reads them without a copy.
 */
export function allocateRing(bufferBytes: number, expectedBytes: number): BufferRing {
  const { take, end } = lendBuffers(expectedBytes >= threadBytes ? 'shared' : 'own', bufferBytes, 3);
  const buffers = [take(), take(), take()] as const;
  let turn = 0;
  return { next: () => buffers[turn++ % 3] as Buffer, end };
}

export interface BufferRing {
  /** Of the length that was asked for, or shorter while many others have buffers. */
  next(): Buffer;
  /** No more buffers are asked for. `isDone`: those that are out are not worked on any more, see `lastChunk`. */
  readonly end: (isDone: boolean) => void;
}

/**
 * What a stream of ours ends with: when something is asked for after it, whatever came before it has been worked on (see ByteStream), and its
 * buffers can go to the next stream.
 */
export const lastChunk: Uint8Array = new Uint8Array(0);
