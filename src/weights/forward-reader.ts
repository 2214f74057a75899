import type { RandomAccess } from '../core/index.js';
import { badHeader, overLimit } from './bad-header.js';

const firstWindow = 64 * 1024;
const largestWindow = 1024 * 1024;
/** A gap up to this is cheaper to read through than to jump over, once the place is remote. */
const smallGap = 64 * 1024;
/** After a jump the next header is likely short, and so is the window that may be read for nothing. */
const windowAfterJump = 4 * 1024;

const utf8 = new TextDecoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A cursor that only moves forward over a file, with a window of bytes in memory. `fill` is the one step that waits: after it the getters
 * below are synchronous. Bytes that are taken count against `budget`, bytes that are skipped do not. Everything that runs past the end
 * throws `weights/bad-header` before anything is allocated.
 */
export class ForwardReader {
  littleEndian = true;
  #window = new DataView(new ArrayBuffer(0));
  #at = 0;
  #position = 0;
  #step = firstWindow;
  #taken = 0;

  constructor(
    readonly access: RandomAccess,
    readonly file: string,
    readonly budget: number,
  ) {}

  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.access.size - this.#position;
  }

  /** Bytes that can be taken without waiting. */
  get buffered(): number {
    return this.#window.byteLength - this.#at;
  }

  /** Makes at least `length` bytes ready. `what` names them in the error. */
  async fill(length: number, what = 'the header'): Promise<void> {
    const kept = this.buffered;
    if (kept >= length) return;
    if (length > this.remaining) throw this.bad(`${what} needs ${length} more bytes and the file ends after ${this.remaining}`);
    const next = new Uint8Array(Math.min(Math.max(length, this.#step), this.remaining));
    next.set(this.#bytes(kept));
    next.set(await this.access.read(this.#position + kept, next.length - kept), kept);
    this.#window = new DataView(next.buffer);
    this.#at = 0;
    this.#step = Math.min(this.#step * 2, largestWindow);
  }

  u8(): number {
    return this.#window.getUint8(this.#take(1));
  }

  u16(): number {
    return this.#window.getUint16(this.#take(2), this.littleEndian);
  }

  u32(): number {
    return this.#window.getUint32(this.#take(4), this.littleEndian);
  }

  u64(): bigint {
    return this.#window.getBigUint64(this.#take(8), this.littleEndian);
  }

  i8(): number {
    return this.#window.getInt8(this.#take(1));
  }

  i16(): number {
    return this.#window.getInt16(this.#take(2), this.littleEndian);
  }

  i32(): number {
    return this.#window.getInt32(this.#take(4), this.littleEndian);
  }

  i64(): bigint {
    return this.#window.getBigInt64(this.#take(8), this.littleEndian);
  }

  f32(): number {
    return this.#window.getFloat32(this.#take(4), this.littleEndian);
  }

  f64(): number {
    return this.#window.getFloat64(this.#take(8), this.littleEndian);
  }

  /** A u64 that counts or measures something: beyond 2^53 nothing can be meant by it. */
  count(what: string): number {
    const value = this.u64();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw this.bad(`${what} is ${value}`);
    return Number(value);
  }

  /** `length` buffered bytes as UTF-8; with `strict` anything else is an error, without it a replacement character. */
  text(length: number, strict: boolean): string {
    const bytes = this.#bytes(length);
    this.#take(length);
    try {
      return (strict ? strictUtf8 : utf8).decode(bytes);
    } catch (cause) {
      throw badHeader(this.file, this.#position - length, 'a name is not UTF-8', cause);
    }
  }

  /** Buffered bytes that are passed over but were looked at: they count against the budget. */
  pass(length: number): void {
    this.#take(length);
  }

  /** Moves on without reading what lies between. */
  skip(length: number): void {
    if (length > this.remaining) throw this.bad(`${length} bytes should follow and the file ends after ${this.remaining}`);
    if (length <= this.buffered) {
      this.#at += length;
    } else {
      this.#at = this.#window.byteLength;
      if (length > smallGap) this.#step = windowAfterJump;
    }
    this.#position += length;
  }

  /** Counts work that is worth more than its bytes against the budget. */
  charge(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken > this.budget) throw overLimit(this.file, this.#position, `it is larger than ${this.budget} bytes, the most that is read`);
  }

  bad(reason: string): Error {
    return badHeader(this.file, this.#position, reason);
  }

  #bytes(length: number): Uint8Array {
    return new Uint8Array(this.#window.buffer, this.#at, length);
  }

  #take(length: number): number {
    if (length > this.buffered) throw this.bad(`${length} more bytes are needed and ${this.buffered} are left`);
    this.charge(length);
    const at = this.#at;
    this.#at += length;
    this.#position += length;
    return at;
  }
}
