import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import {
  type ByteCounters,
  type ByteRange,
  type ByteStream,
  createError,
  type Digest,
  isDigest,
  type RandomAccess,
  splitDigest,
} from '../core/index.js';
import { toIoError } from './os-error.js';
import { allocateRing, type BufferRing, createStreamHash, lastChunk } from './threads/stream-hash.js';

/** Large enough that the cost of a call vanishes, small enough that two per open file stay cheap. (measured: 64 KiB halves the speed) */
export const chunkBytes = 1024 * 1024;

export async function* fromBytes(bytes: Uint8Array): ByteStream {
  if (bytes.byteLength > 0) yield bytes;
}

/** The bytes of a file in order; the next chunk is read while the consumer works on this one. `flags` as in open(2), for files that may not be links. */
export async function* fromFile(path: string, range?: ByteRange, counters?: ByteCounters, flags: string | number = 'r'): ByteStream {
  const handle = await openForReading(path, flags);
  let pending: Promise<number> | undefined;
  let ring: BufferRing | undefined;
  let isDone = false;
  try {
    const length = (range?.end ?? (await handle.stat()).size) - (range?.start ?? 0);
    const bufferBytes = Math.max(1, Math.min(chunkBytes, length));
    ring = allocateRing(bufferBytes, length);
    let position = range?.start ?? 0;
    const end = range?.end ?? Number.MAX_SAFE_INTEGER;
    const readInto = (buffer: Buffer) => readSome(handle, buffer, position, end, path);
    let buffer = ring.next();
    pending = readInto(buffer);
    for (;;) {
      const count = await pending;
      if (count === 0) break;
      position += count;
      if (counters !== undefined) counters.read += count;
      const filled = buffer.subarray(0, count);
      buffer = ring.next();
      pending = readInto(buffer);
      yield filled;
    }
    if (length > 0) yield lastChunk;
    isDone = true;
  } finally {
    await pending?.catch(() => {});
    ring?.end(isDone);
    await handle.close();
  }
}

async function openForReading(path: string, flags: string | number = 'r'): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (error) {
    throw toIoError(error, 'read', path);
  }
}

async function readSome(handle: FileHandle, buffer: Buffer, position: number, end: number, path: string): Promise<number> {
  const length = Math.min(buffer.byteLength, end - position);
  if (length <= 0) return 0;
  try {
    return (await handle.read(buffer, 0, length, position)).bytesRead;
  } catch (error) {
    throw toIoError(error, 'read', path);
  }
}

/** The same bytes, counted and hashed on the way; the end throws when they are not what was promised. `what` names them and `mend` says what to do in the error. */
export async function* verified(
  stream: ByteStream,
  expected: { digest: Digest; size: number },
  what: string,
  counters?: ByteCounters,
  mend = 'fetch or build the package again',
): ByteStream {
  const { algorithm, hex } = splitDigest(expected.digest);
  const hash = createStreamHash(algorithm, expected.size);
  let size = 0;
  // A chunk is hashed while the next one is made: it stays as it is until the one after that is asked for.
  let before: Promise<void> = Promise.resolve();
  try {
    for await (const chunk of stream) {
      size += chunk.byteLength;
      if (size > expected.size) throw sizeMismatch(what, expected.size, `at least ${size}`);
      await before;
      before = hash.update(chunk);
      before.catch(() => {});
      if (counters !== undefined) counters.hashed += chunk.byteLength;
      yield chunk;
    }
    await before;
    if (size !== expected.size) throw sizeMismatch(what, expected.size, String(size));
    const found = await hash.digest();
    if (found === hex) return;
    throw createError('bytes/digest-mismatch', {
      message: `Cannot use ${what}: expected ${expected.digest}, found ${algorithm}:${found}`,
      hint: `The bytes are damaged: ${mend}`,
      where: expected.digest,
    });
  } finally {
    await before.catch(() => {});
    hash.drop();
  }
}

export function sizeMismatch(what: string, expected: number, found: string): Error {
  return createError('bytes/size-mismatch', {
    message: `Cannot use ${what}: expected ${expected} bytes, found ${found}`,
    hint: 'The bytes are damaged or cut off: fetch or build the package again',
    where: what,
  });
}

/** All bytes in memory; more than `limit` throws `bytes/limit`. */
export async function collect(stream: ByteStream, limit: number, what: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > limit) throw createError('bytes/limit', { message: `Cannot hold ${what} in memory: it is larger than ${limit} bytes`, where: what });
    chunks.push(Buffer.from(chunk));
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size);
}

/** Reads to the end for the sake of the checks on the way. Gives the number of bytes. */
export async function drain(stream: ByteStream): Promise<number> {
  let size = 0;
  for await (const chunk of stream) size += chunk.byteLength;
  return size;
}

export function digestOf(bytes: Uint8Array): Digest {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  if (!isDigest(digest)) throw createError('core/bug', { message: `Cannot happen: ${digest} is not a digest` });
  return digest;
}

/** A file read at any offset. Close it. */
export interface FileAccess extends RandomAccess {
  close(): Promise<void>;
}

export async function openFileAccess(path: string, counters?: ByteCounters): Promise<FileAccess> {
  const handle = await openForReading(path);
  const { size } = await handle.stat();
  return {
    size,
    read: async (offset, length) => {
      const bytes = Buffer.allocUnsafe(length);
      let filled = 0;
      while (filled < length) {
        const count = await readSome(handle, bytes.subarray(filled), offset + filled, offset + length, path);
        if (count === 0) throw sizeMismatch(path, offset + length, String(offset + filled));
        filled += count;
      }
      if (counters !== undefined) counters.read += length;
      return bytes;
    },
    close: () => handle.close(),
  };
}
