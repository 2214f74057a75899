import { makeBytes } from '../distant-blob.js';

/** Numbers that look random and are always the same for one seed. (Mulberry32) */
export class Random {
  #state: number;

  constructor(readonly seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to and without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to and without `limit`. */
  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Undefined when there is nothing to choose from. */
  find<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)];
  }

  /** Bytes that nothing else has. */
  bytes(size: number): Buffer {
    return makeBytes(size, `${this.seed} ${this.next()}`);
  }

  fork(): Random {
    return new Random(this.below(2 ** 32));
  }
}
