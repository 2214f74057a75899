import { rmSync } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ByteCounters } from '../../core/index.js';
import { syncFolder, temporaryName } from '../durable.js';
import { EarlySync } from '../early-sync.js';
import { toIoError } from '../os-error.js';
import { writeAt } from '../output-file.js';

/** Members up to this size are gathered, header and all, into larger writes. */
export const smallBytes = 1024 * 1024;

/** Room for one small member, a header with the longest name, and what a compressor adds to what it cannot shrink. */
const pageBytes = smallBytes + 128 * 1024;

/** At a time; see output-file.ts. */
const pieceBytes = 512 * 1024;

/** An archive's file while it is written: under another name until `commit`, small pieces gathered, a page written while the next one is filled. */
export class ZipOutput {
  readonly #path: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  readonly #early: EarlySync;
  readonly #counters: ByteCounters;
  #page: Buffer = Buffer.allocUnsafeSlow(pageBytes);
  #other: Buffer | undefined;
  #filled = 0;
  /** Where the page will be written. */
  #start = 0;
  #writing: Promise<void> = Promise.resolve();
  #isOpen = true;

  private constructor(handle: FileHandle, path: string, temporary: string, counters: ByteCounters) {
    this.#handle = handle;
    this.#early = new EarlySync(handle);
    this.#path = path;
    this.#temporary = temporary;
    this.#counters = counters;
  }

  static async open(path: string, counters: ByteCounters): Promise<ZipOutput> {
    const temporary = temporaryName(path);
    try {
      return new ZipOutput(await open(temporary, 'wx', 0o644), path, temporary, counters);
    } catch (error) {
      throw toIoError(error, 'write', path);
    }
  }

  /** Where the next byte goes. */
  get end(): number {
    return this.#start + this.#filled;
  }

  /** At least `bytes` of room, at most `smallBytes` and a header; valid until the next call. `keep` makes the first part of it part of the file. */
  async room(bytes: number): Promise<Buffer> {
    if (this.#filled + bytes > pageBytes) await this.flush();
    return this.#page.subarray(this.#filled);
  }

  keep(bytes: number): void {
    this.#filled += bytes;
  }

  async put(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const room = await this.room(1);
      const count = bytes.copy(room, 0, at);
      this.keep(count);
      at += count;
    }
  }

  /** Begins to write what is gathered; what was begun before is written then. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#filled === 0) return;
    const page = this.#page;
    this.#writing = this.writeAt(page.subarray(0, this.#filled), this.#start);
    this.#writing.catch(() => {});
    this.#page = this.#other ?? Buffer.allocUnsafeSlow(pageBytes);
    this.#other = page;
    this.#start += this.#filled;
    this.#filled = 0;
  }

  /** Long members go past the page; `skipTo` makes them part of the file. */
  async writeAt(bytes: Uint8Array, position: number): Promise<void> {
    try {
      for await (const count of writeAt(this.#handle, bytes, position, pieceBytes)) this.#early.note(count);
      this.#counters.written += bytes.byteLength;
    } catch (error) {
      throw toIoError(error, 'write', this.#path);
    }
  }

  /** After `flush` only. */
  skipTo(end: number): void {
    this.#start = end;
  }

  /** Puts the whole file in its place, durably. */
  async commit(): Promise<number> {
    await this.flush();
    await this.#writing;
    try {
      await this.#early.settle();
      await this.#handle.sync();
      await this.#handle.close();
      this.#isOpen = false;
      await rename(this.#temporary, this.#path);
      syncFolder(dirname(this.#path));
    } catch (error) {
      throw toIoError(error, 'write', this.#path);
    }
    return this.#start;
  }

  /** Without `commit` nothing stays. */
  async close(): Promise<void> {
    await this.#writing.catch(() => {});
    await this.#early.settle().catch(() => {});
    if (this.#isOpen) await this.#handle.close().catch(() => {});
    this.#isOpen = false;
    rmSync(this.#temporary, { force: true });
  }
}
