import { type BufferLoan, lastChunk, lendBuffers } from '../../bytes/index.js';
import type { ByteStream } from '../../core/index.js';

/** Of several receives together: fewer turns for whoever reads. (measured: 256 KiB to 1 MiB are equal, 64 KiB costs a half more time of the processor) */
const bufferBytes = 256 * 1024;

/** Buffers that wait for the reader before the socket is paused. */
const mostReady = 2;

/** Those, two with the reader, one that is being filled. */
const mostBuffers = mostReady + 3;

interface FilledBuffer {
  readonly buffer: Buffer;
  readonly bytes: Uint8Array;
}

/**
 * A body of known length between a socket, which receives into `room`, and one reader. Buffers go round: two are with the reader, as a
 * chunk stays valid until the second next one is asked for. Large ones are in shared memory, where a hash thread reads them without a copy.
 */
export class BodyQueue {
  readonly #length: number;
  #loan: BufferLoan | undefined;
  readonly #resume: () => void;
  readonly #free: Buffer[] = [];
  readonly #ready: FilledBuffer[] = [];
  #left: number;
  #current: Buffer | undefined;
  #filled = 0;
  #failure: { readonly error: Error } | undefined;
  #wake = () => {};

  /** `resume` is called when there is room again after `take` gave false. */
  constructor(length: number, resume: () => void) {
    this.#left = length;
    this.#length = length;
    this.#resume = resume;
  }

  /** Bytes that are still to be received. */
  get left(): number {
    return this.#left;
  }

  /** Where the next bytes go, up to the end of the body; empty only there. */
  room(): Uint8Array {
    const loan = (this.#loan ??= this.#borrow());
    this.#current ??= this.#free.pop() ?? loan.take();
    return this.#current.subarray(this.#filled, Math.min(loan.bytes, this.#filled + this.#left));
  }

  #borrow(): BufferLoan {
    return lendBuffers(this.#length > bufferBytes ? 'shared' : 'own', Math.min(bufferBytes, this.#length), mostBuffers);
  }

  /** Nobody is going to read what is left. */
  giveUp(): void {
    this.#loan?.end(false);
  }

  /** `count` bytes stand in what `room` gave. False when the reader is behind: what comes all the same is kept. */
  take(count: number): boolean {
    this.#filled += count;
    this.#left -= count;
    if (this.#filled === this.#loan?.bytes || this.#left === 0) this.#hand();
    return this.#ready.length < mostReady;
  }

  /** The reader gets what has come so far, then the error. */
  fail(error: Error): void {
    this.#failure ??= { error };
    this.#hand();
  }

  #hand(): void {
    if (this.#current !== undefined && this.#filled > 0) {
      this.#ready.push({ buffer: this.#current, bytes: this.#current.subarray(0, this.#filled) });
      this.#current = undefined;
      this.#filled = 0;
    }
    this.#wake();
  }

  async *read(): ByteStream {
    let older: FilledBuffer | undefined;
    let newer: FilledBuffer | undefined;
    let isDone = false;
    try {
      for (;;) {
        if (older !== undefined) this.#free.push(older.buffer);
        older = newer;
        newer = await this.#next();
        if (newer === undefined) break;
        yield newer.bytes;
      }
      if (older !== undefined) yield lastChunk;
      isDone = true;
    } finally {
      this.#loan?.end(isDone);
    }
  }

  async #next(): Promise<FilledBuffer | undefined> {
    while (this.#ready.length === 0) {
      if (this.#failure !== undefined) throw this.#failure.error;
      if (this.#left === 0) return undefined;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const next = this.#ready.shift();
    if (this.#left > 0 && this.#failure === undefined) this.#resume();
    return next;
  }
}
