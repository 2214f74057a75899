import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { type ByteCounters, type ByteStream, createError, type FileContent } from '../core/index.js';
import { toFileIdentity } from './file-identity.js';
import { toIoError } from './os-error.js';
import { fromFile } from './streams.js';

/** All bytes of a file, or those from `start` on. Throws `bytes/file-changed` when it is not, or no longer, what it was when it was listed or opened. */
export async function* fromWholeFile(file: FileContent, counters?: ByteCounters, start = 0): ByteStream {
  const before = stateBefore(file, file.path);
  yield* fromFile(file.path, { start, end: file.size }, counters);
  judgeUnchanged(file, before, file.path);
}

/** The same without promises, which for thousands of files would cost more than the reading. Close it. */
export class WholeFile {
  readonly #file: FileContent;
  readonly #handle: number;
  readonly #before: string;
  #position = 0;

  private constructor(file: FileContent, handle: number) {
    this.#file = file;
    this.#handle = handle;
    this.#before = stateBefore(file, handle);
  }

  static open(file: FileContent): WholeFile {
    const handle = attempt(file, () => openSync(file.path, 'r'));
    try {
      return new WholeFile(file, handle);
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
    if (this.#position === this.#file.size) judgeUnchanged(this.#file, this.#before, this.#handle);
  }

  close(): void {
    closeSync(this.#handle);
  }
}

/** Throws `bytes/file-changed` when a listed file is not as it was. */
export function assertUnchanged(file: FileContent): void {
  judgeUnchanged(file, stateBefore(file, file.path), file.path);
}

function attempt<T>(file: FileContent, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw toIoError(error, 'read', file.path);
  }
}

/** A file whose state was taken with its listing need not be looked at twice: it is held against that one afterwards. */
function stateBefore(file: FileContent, place: string | number): string {
  if (file.identity !== undefined) return file.identity.key;
  const { size, key } = lookAt(file, place);
  if (size !== file.size) throw fileChanged(file, `expected ${file.size} bytes, found ${size}`);
  return key;
}

function judgeUnchanged(file: FileContent, before: string, place: string | number): void {
  const { size, key } = lookAt(file, place);
  if (key !== before) throw fileChanged(file, `it was written to meanwhile (${file.size} bytes before, ${size} after)`);
}

function lookAt(file: FileContent, place: string | number): { size: number; key: string } {
  const stat = attempt(file, () => (typeof place === 'string' ? statSync(place, { bigint: true }) : fstatSync(place, { bigint: true })));
  return { size: Number(stat.size), key: toFileIdentity(stat).key };
}

function fileChanged(file: FileContent, reason: string): Error {
  return createError('bytes/file-changed', {
    message: `Cannot read "${file.path}": ${reason}`,
    hint: 'Wait until nothing writes to it, then run the same command again',
    where: file.path,
  });
}
