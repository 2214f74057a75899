import { type BufferLoan, lastChunk, lendBuffers } from '../../../bytes/index.js';

/** What a hash thread and a file take at a time: each turn costs a message to a thread and back. */
const bufferBytes = 512 * 1024;

/** Buffers that wait for the reader before the socket is paused. */
const mostReady = 2;

/** Those, two with the reader, one that is being filled. */
const mostBuffers = mostReady + 3;

/** Of shared memory Node copies a word at a time, but single bytes when the two sides are not aligned alike. (measured: 8 times slower) */
const wordBytes = 8;

/** What Node gives at a time, and room to align it. */
const scratchBytes = 64 * 1024 + wordBytes;

interface Filled {
  readonly buffer: Buffer;
  readonly bytes: Uint8Array;
}

/**
 * The pieces in which Node hands out a body, put together in few large buffers that go round and lie where a hash thread reads them without a copy.
 * Two are with the reader, as a chunk stays valid until the second next one is asked for.
 */
export class GatheredBytes {
  readonly #loan: BufferLoan = lendBuffers('shared', bufferBytes, mostBuffers);
  readonly #free: Buffer[] = [];
  readonly #ready: Filled[] = [];
  #scratch: Buffer | undefined;
  #current: Buffer | undefined;
  #filled = 0;
  #older: Filled | undefined;
  #newer: Filled | undefined;

  get isEmpty(): boolean {
    return this.#ready.length === 0;
  }

  /** More would have to be kept. */
  get isFull(): boolean {
    return this.#ready.length >= mostReady;
  }

  add(piece: Uint8Array): void {
    for (let done = 0; done < piece.byteLength;) {
      this.#current ??= this.#free.pop() ?? this.#loan.take();
      const part = piece.subarray(done, done + Math.min(this.#loan.bytes - this.#filled, scratchBytes - wordBytes));
      this.#current.set(this.#align(part), this.#filled);
      this.#filled += part.byteLength;
      done += part.byteLength;
      if (this.#filled === this.#loan.bytes) this.flush();
    }
  }

  /** Room for what comes next, at most `most` bytes of it: to be filled from its start, see `filled`. */
  space(most: number): Uint8Array {
    this.#current ??= this.#free.pop() ?? this.#loan.take();
    return this.#current.subarray(this.#filled, Math.min(this.#current.byteLength, this.#filled + most));
  }

  /** So much of the last space is. */
  filled(count: number): void {
    this.#filled += count;
    if (this.#filled === this.#loan.bytes) this.flush();
  }

  #align(part: Uint8Array): Uint8Array {
    const offset = this.#filled % wordBytes;
    if (part.byteOffset % wordBytes === offset) return part;
    const scratch = (this.#scratch ??= Buffer.allocUnsafeSlow(scratchBytes));
    scratch.set(part, offset);
    return scratch.subarray(offset, offset + part.byteLength);
  }

  /** What has come so far can be taken. */
  flush(): void {
    if (this.#current === undefined) return;
    this.#ready.push({ buffer: this.#current, bytes: this.#current.subarray(0, this.#filled) });
    this.#current = undefined;
    this.#filled = 0;
  }

  /** The next to read; the one before the one before is filled anew. */
  take(): Uint8Array | undefined {
    const next = this.#ready.shift();
    if (next === undefined) return undefined;
    if (this.#older !== undefined) this.#free.push(this.#older.buffer);
    this.#older = this.#newer;
    this.#newer = next;
    return next.bytes;
  }

  /** To be handed on at the end: whoever asks for more has worked on all before. */
  get last(): Uint8Array {
    return lastChunk;
  }

  /** `isDone`: nobody works on the buffers any more. */
  end(isDone: boolean): void {
    this.#loan.end(isDone);
  }
}

/** Worth gathering: a body that does not fit one buffer. */
export function isBulk(length: number | undefined): boolean {
  return length === undefined || length > bufferBytes;
}
