import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { type ByteCounters, type ByteStream, createError, type FileContent } from '../core/index.js';
import { toIoError } from './os-error.js';
import { fromFile } from './streams.js';

/** All bytes of a file. Throws `bytes/file-changed` when it is not, or no longer, what it was when it was listed or opened. */
export async function* fromWholeFile(file: FileContent, counters?: ByteCounters): ByteStream {
  const before = judgeSize(file, statOf(file.path));
  yield* fromFile(file.path, { start: 0, end: file.size }, counters);
  judgeUnchanged(file, before, statOf(file.path));
}

/** The same for a small file, into a buffer that has room for it: a promise for each of thousands would cost more than the reading. */
export function readWholeFile(file: FileContent, buffer: Buffer, offset: number): void {
  try {
    const handle = openSync(file.path, 'r');
    try {
      const before = judgeSize(file, fstatSync(handle));
      for (let filled = 0; filled < file.size;) {
        const count = readSync(handle, buffer, offset + filled, file.size - filled, null);
        if (count === 0) throw fileChanged(file, `it ended after ${filled} bytes, expected ${file.size}`);
        filled += count;
      }
      judgeUnchanged(file, before, fstatSync(handle));
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    throw toIoError(error, 'read', file.path);
  }
}

function statOf(path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    throw toIoError(error, 'read', path);
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
