import { availableParallelism } from 'node:os';
import { createStreamHash, openContentFrom, type StreamHash } from '../../bytes/index.js';
import { type BlobContent, type ByteCounters, type ByteStream, type Digest, parseDigest, type ProgressItem } from '../../core/index.js';

/** Told how far the bytes went. */
export type Reach = (position: number) => void;

/** Bytes that are sent again do not move the bar. */
export function toReach(progress: ProgressItem | undefined): Reach {
  let farthest = 0;
  return (position) => {
    if (position <= farthest) return;
    progress?.advance(position - farthest);
    farthest = position;
  };
}

/**
 * Where two cores are all, hashing in threads only adds to what reading, sending and whatever else is at work there have to share.
 * (measured with a registry on the same two cores: 6 % of a push)
 */
const hashesBeside = availableParallelism() > 2;

/**
 * Content that goes out in pieces, in order but for repetitions. What has no digest yet is hashed while it passes, each byte once
 * however often it is sent. Close it.
 */
export class OutgoingContent {
  readonly #content: BlobContent;
  readonly #counters: ByteCounters;
  readonly #reach: Reach;
  readonly #hash: StreamHash | undefined;
  #iterator: AsyncIterator<Uint8Array> | undefined;
  /** What the iterator gave and nobody took. */
  #rest: Uint8Array = new Uint8Array(0);
  #position = 0;
  #hashed = 0;
  #length = 0;
  #digest: Promise<string> | undefined;
  #turn = 0;
  /** The last `take` came to its end. */
  #isIdle = true;

  constructor(content: BlobContent, size: number, hashes: boolean, counters: ByteCounters, reach: Reach) {
    this.#content = content;
    this.#counters = counters;
    this.#reach = reach;
    this.#hash = hashes ? createStreamHash('sha256', hashesBeside ? size : 0) : undefined;
  }

  /** What an earlier run sent already: hashed, if need be, and not sent. */
  async pass(offset: number): Promise<void> {
    if (this.#hash === undefined || this.#hashed >= offset) return this.#reach(offset);
    const before = this.#hashed;
    for await (const chunk of this.take(before, offset - before)) this.#counters.resumed += chunk.byteLength;
  }

  /**
   * The bytes from `offset` on, at most `length` of them. One that was given up in its midst may still be waiting for the source, so the
   * next opens it anew, and the one before takes nothing any more.
   */
  async *take(offset: number, length: number): ByteStream {
    const turn = ++this.#turn;
    if (offset !== this.#position || this.#iterator === undefined || !this.#isIdle) await this.#open(offset);
    this.#isIdle = false;
    for (let left = length; left > 0;) {
      if (this.#rest.byteLength === 0 && !(await this.#next())) break;
      if (turn !== this.#turn) return;
      const piece = this.#rest.subarray(0, left);
      const hashed = this.#pass(piece);
      this.#rest = this.#rest.subarray(piece.byteLength);
      left -= piece.byteLength;
      yield piece;
      await hashed;
    }
    this.#isIdle = true;
  }

  async #open(offset: number): Promise<void> {
    await this.#iterator?.return?.();
    this.#iterator = openContentFrom(this.#content, offset, this.#counters)[Symbol.asyncIterator]();
    this.#rest = new Uint8Array(0);
    this.#position = offset;
  }

  async #next(): Promise<boolean> {
    const next = await this.#iterator?.next();
    if (next === undefined || next.done === true) return false;
    this.#rest = next.value;
    return true;
  }

  #pass(piece: Uint8Array): Promise<void> | undefined {
    const fresh = piece.subarray(Math.max(0, Math.min(piece.byteLength, this.#hashed - this.#position)));
    this.#position += piece.byteLength;
    this.#length = Math.max(this.#length, this.#position);
    this.#reach(this.#position);
    if (this.#hash === undefined || fresh.byteLength === 0) return undefined;
    this.#hashed += fresh.byteLength;
    this.#counters.hashed += fresh.byteLength;
    return this.#hash.update(fresh);
  }

  /** Runs the source to its end, so that it may say that it changed; gives the digest of everything, if it was wanted. */
  async finish(): Promise<Digest | undefined> {
    while (this.#iterator !== undefined && (await this.#next())) this.#rest = new Uint8Array(0);
    this.#digest ??= this.#hash?.digest();
    return this.#digest === undefined ? undefined : parseDigest(`sha256:${await this.#digest}`);
  }

  /** How many bytes went by, at the farthest. */
  get length(): number {
    return this.#length;
  }

  async close(): Promise<void> {
    await this.#iterator?.return?.();
    this.#hash?.drop();
  }
}
