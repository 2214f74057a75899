import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { type ByteCounters, type ByteStream, createError, type FileContent } from '../core/index.js';
import { toIoError } from './os-error.js';
import { fromFile } from './streams.js';

/** All bytes of a file. Throws `bytes/file-changed` when it is not, or no longer, what it was when it was listed or opened. */
export async function* fromWholeFile(file: FileContent, counters?: ByteCounters): ByteStream {
  const before = judgeSize(
    file,
    attempt(file, () => statSync(file.path)),
  );
  yield* fromFile(file.path, { start: 0, end: file.size }, counters);
  judgeUnchanged(
    file,
    before,
    attempt(file, () => statSync(file.path)),
  );
}

/** The same without promises, which for thousands of files would cost more than the reading. Close it. */
export class WholeFile {
  readonly #file: FileContent;
  readonly #handle: number;
  readonly #before: Stats;
  #position = 0;

  private constructor(file: FileContent, handle: number, before: Stats) {
    this.#file = file;
    this.#handle = handle;
    this.#before = before;
  }

  static open(file: FileContent): WholeFile {
    const handle = attempt(file, () => openSync(file.path, 'r'));
    try {
      return new WholeFile(
        file,
        handle,
        judgeSize(
          file,
          attempt(file, () => fstatSync(handle)),
        ),
      );
    } catch (error) {
      closeSync(handle);
      throw error;
    }
  }

  /** Exactly the next `length` bytes; after the last ones the file is judged. */
  read(buffer: Buffer, offset: number, length: number): void {
    for (let done = 0; done < length;) {
      const count = attempt(this.#file, () => readSync(this.#handle, buffer, offset + done, length - done, null));
      if (count === 0) throw fileChanged(this.#file, `it ended after ${this.#position} bytes, expected ${this.#file.size}`);
      done += count;
      this.#position += count;
    }
    if (this.#position === this.#file.size)
      judgeUnchanged(
        this.#file,
        this.#before,
        attempt(this.#file, () => fstatSync(this.#handle)),
      );
  }

  close(): void {
    closeSync(this.#handle);
  }
}

function attempt<T>(file: FileContent, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw toIoError(error, 'read', file.path);
  }
}

function judgeSize(file: FileContent, stat: Stats): Stats {
  if (stat.size !== file.size) throw fileChanged(file, `expected ${file.size} bytes, found ${stat.size}`);
  return stat;
}

function judgeUnchanged(file: FileContent, before: Stats, after: Stats): void {
  const same = after.size === before.size && after.mtimeMs === before.mtimeMs && after.ctimeMs === before.ctimeMs && after.ino === before.ino;
  if (!same) throw fileChanged(file, `it was written to meanwhile (${before.size} bytes before, ${after.size} after)`);
}

function fileChanged(file: FileContent, reason: string): Error {
  return createError('bytes/file-changed', {
    message: `Cannot read "${file.path}": ${reason}`,
    hint: 'Wait until nothing writes to it, then run the same command again',
    where: file.path,
  });
}
