import { constants, rmSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { ByteCounters, ByteStream } from '../core/index.js';
import { EarlySync } from './early-sync.js';
import { isSystemError, toIoError } from './os-error.js';
import { writeAt } from './output-file.js';
import { chunkBytes, sizeMismatch } from './streams.js';
import { allocateRing, lastChunk } from './threads/stream-hash.js';

/** What opening says of something that no run of ours has left: a link, a folder, a pipe, a file of somebody else. */
const foreign = ['ELOOP', 'EISDIR', 'ENXIO', 'EACCES', 'EPERM'];

/** Not through a link, and without waiting for the other end of a pipe. */
const reopened = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** At a time, as in output-file.ts; beside a socket smaller pieces were the better ones. (measured for a pull: 512 KiB cost a third more) */
const defaultWriteBytes = 256 * 1024;

export interface PartialFileOptions {
  /** How many are written at a time. */
  readonly writeBytes?: number;
  /** What `unsynced` said when it was open before, so that a file that is opened for each of many pieces goes to the disk early too. */
  readonly unsynced?: number;
}

/** A file that may have been begun by an earlier run, and is written on at its end. Close it. */
export class PartialFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #early: EarlySync;
  readonly #writeBytes: number;
  #size: number;

  private constructor(path: string, handle: FileHandle, size: number, { writeBytes = defaultWriteBytes, unsynced = 0 }: PartialFileOptions) {
    this.path = path;
    this.#writeBytes = writeBytes;
    this.#handle = handle;
    this.#early = new EarlySync(handle, unsynced);
    this.#size = size;
  }

  /** What stands there is taken up when it is a plain file of this user, without other names, of at most `limit` bytes; anything else is replaced. */
  static async open(path: string, limit: number, options: PartialFileOptions = {}): Promise<PartialFile> {
    try {
      const kept = await openKept(path);
      if (kept !== undefined) {
        const file = new PartialFile(path, kept.handle, kept.size, options);
        if (kept.size > limit) await file.empty();
        return file;
      }
      rmSync(path, { recursive: true, force: true });
      return new PartialFile(path, await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600), 0, options);
    } catch (error) {
      throw toIoError(error, 'write', path);
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes that the disk has not been asked to take. */
  get unsynced(): number {
    return this.#early.unsynced;
  }

  /** All that is there. `expectedBytes` is how long it is going to be: of long files the bytes lie where a hash thread reads them. */
  async *read(expectedBytes: number, counters: ByteCounters): ByteStream {
    const end = this.#size;
    const ring = allocateRing(Math.max(1, Math.min(chunkBytes, end)), expectedBytes);
    let isDone = false;
    try {
      for (let position = 0; position < end;) {
        const buffer = ring.next();
        const count = await this.#read(buffer, position, Math.min(buffer.byteLength, end - position));
        if (count === 0) throw sizeMismatch(this.path, end, String(position));
        counters.read += count;
        position += count;
        yield buffer.subarray(0, count);
      }
      yield lastChunk;
      isDone = true;
    } finally {
      ring.end(isDone);
    }
  }

  async #read(buffer: Buffer, position: number, length: number): Promise<number> {
    try {
      return (await this.#handle.read(buffer, 0, length, position)).bytesRead;
    } catch (error) {
      throw toIoError(error, 'read', this.path);
    }
  }

  async write(chunk: Uint8Array): Promise<void> {
    try {
      for await (const count of writeAt(this.#handle, chunk, this.#size, this.#writeBytes)) this.#size += count;
      this.#early.note(chunk.byteLength);
    } catch (error) {
      throw toIoError(error, 'write', this.path);
    }
  }

  async empty(): Promise<void> {
    try {
      await this.#handle.truncate(0);
      this.#size = 0;
    } catch (error) {
      throw toIoError(error, 'write', this.path);
    }
  }

  /** Nothing is written in the background any more. Throws what went wrong there: nobody knows then what is on the disk. */
  async settle(): Promise<void> {
    try {
      await this.#early.settle();
    } catch (error) {
      throw toIoError(error, 'write', this.path);
    }
  }

  /** `finish` may change the open file's attributes; then it is synced. */
  async sync(finish: (handle: number) => void): Promise<void> {
    try {
      await this.#early.settle();
      finish(this.#handle.fd);
      await this.#handle.sync();
    } catch (error) {
      throw toIoError(error, 'write', this.path);
    }
  }

  async close(): Promise<void> {
    await this.#early.settle().catch(() => {});
    await this.#handle.close();
  }
}

async function openKept(path: string): Promise<{ handle: FileHandle; size: number } | undefined> {
  let handle: FileHandle;
  try {
    handle = await open(path, reopened);
  } catch (error) {
    if (isSystemError(error, 'ENOENT') || foreign.some((code) => isSystemError(error, code))) return undefined;
    throw error;
  }
  const stat = await handle.stat();
  if (isKept(stat)) return { handle, size: stat.size };
  await handle.close();
  return undefined;
}

/** Whether a file can only have been written by a run of this user: one of another user, or with another name, could change after it was proven. */
export function isKept(stat: Stats): boolean {
  return stat.isFile() && stat.nlink === 1 && (process.getuid === undefined || stat.uid === process.getuid());
}
