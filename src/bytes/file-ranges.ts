import { statSync } from 'node:fs';
import type { ByteCounters, ByteRange, ByteStream, FileContent, RangeSource } from '../core/index.js';
import { toFileIdentity } from './file-identity.js';
import { toIoError } from './os-error.js';
import { type FileAccess, fromBytes, fromFile, openFileAccess, sizeMismatch } from './streams.js';
import { assertUnchanged } from './whole-file.js';

/** Up to this it is read by the open handle; for more, reading ahead is worth opening it again. */
const shortBytes = 256 * 1024;

/** A file on this machine, at any offset. Close it. */
export interface FileRanges extends RangeSource {
  close(): Promise<void>;
}

/** The end of a long stream throws `bytes/file-changed` when the file is not what it was when it was opened. */
export async function openFileRanges(path: string, counters?: ByteCounters): Promise<FileRanges> {
  const file = lookAt(path);
  const access = await openFileAccess(path, counters);
  try {
    assertUnchanged(file);
  } catch (error) {
    await access.close();
    throw error;
  }
  return {
    size: access.size,
    read: (offset, length) => access.read(offset, length),
    stream: (range) => openStream(access, file, range, counters),
    close: () => access.close(),
  };
}

function lookAt(path: string): FileContent {
  try {
    const stat = statSync(path, { bigint: true });
    return { kind: 'file', path, size: Number(stat.size), identity: toFileIdentity(stat) };
  } catch (error) {
    throw toIoError(error, 'read', path);
  }
}

async function openStream(
  access: FileAccess,
  file: FileContent,
  { start, end = file.size }: ByteRange,
  counters?: ByteCounters,
): Promise<ByteStream> {
  if (end > file.size || start > end) throw sizeMismatch(file.path, end, String(file.size));
  return end - start <= shortBytes ? fromBytes(await access.read(start, end - start)) : readLong(file, start, end, counters);
}

async function* readLong(file: FileContent, start: number, end: number, counters?: ByteCounters): ByteStream {
  let at = start;
  for await (const chunk of fromFile(file.path, { start, end }, counters)) {
    at += chunk.byteLength;
    yield chunk;
  }
  assertUnchanged(file);
  if (at !== end) throw sizeMismatch(file.path, end, String(at));
}
