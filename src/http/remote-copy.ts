import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { collect, fromBytes, fromFile, openFileAccess, PartialFile, sizeMismatch, temporaryName } from '../bytes/index.js';
import { type ByteCounters, type ByteStream, createCounters, createError } from '../core/index.js';
import { exactStream } from './exact-stream.js';
import { type FetchedFile, toFetchedFile } from './fetch-file.js';
import type { FileRequests } from './file-requests.js';
import { tailBytes } from './find-tail.js';
import type { HttpResponse } from './http.js';
import { isPlain } from './part-answer.js';
import type { RemoteFile, RemoteFileOptions } from './remote-file.js';

/** Reads all of a file that a server gives in no other way: a small one into memory, a larger one into a file that goes when it is closed. */
export async function copyRemote(response: HttpResponse, requests: FileRequests, options: RemoteFileOptions): Promise<RemoteFile> {
  const file = toFetchedFile(response, requests);
  try {
    const size = assertCopyable(file, options.limits.remoteCopyBytes);
    const body = exactStream(file.body, size, file.shown);
    return size <= tailBytes ? fromMemory(await collect(body, size, file.shown), file.shown) : await toDisk(body, file.shown, options);
  } finally {
    file.drop();
  }
}

function assertCopyable({ size, encoding, shown }: FetchedFile, limit: number): number {
  if (!isPlain(encoding)) throw refused(shown, `encoded as ${JSON.stringify(encoding.slice(0, 80))}`);
  if (size === undefined) throw refused(shown, 'without saying how long it is');
  if (size > limit) throw refused(shown, `which is ${size} bytes, and copies at most ${limit}`);
  return size;
}

function refused(shown: string, how: string): Error {
  return createError('http/no-ranges', {
    message: `Cannot read parts of "${shown}": the server gives only all of it, ${how}`,
    hint: 'Download the file, and name it instead of its address',
    where: shown,
  });
}

function fromMemory(bytes: Uint8Array, url: string): RemoteFile {
  const part = (start: number, end: number) => {
    if (end > bytes.byteLength) throw sizeMismatch(url, end, String(bytes.byteLength));
    return bytes.slice(start, end);
  };
  return {
    url,
    ranged: false,
    size: bytes.byteLength,
    read: async (offset, length) => part(offset, offset + length),
    stream: async ({ start, end = bytes.byteLength }) => fromBytes(part(start, end)),
    close: async () => {},
  };
}

async function toDisk(body: ByteStream, url: string, { tmp, counters = createCounters() }: RemoteFileOptions): Promise<RemoteFile> {
  const path = temporaryName(join((await tmp?.()) ?? tmpdir(), 'remote'));
  try {
    await write(body, path, counters);
    const file = await openFileAccess(path, counters);
    const { size } = file;
    return {
      url,
      ranged: false,
      size,
      read: (offset, length) => file.read(offset, length),
      stream: async ({ start, end = size }) => exactStream(fromFile(path, { start, end }, counters), end - start, url),
      close: async () => {
        await file.close();
        await rm(path, { force: true });
      },
    };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** For its owner alone, and not synced: nobody looks for it after a crash. */
async function write(body: ByteStream, path: string, counters: ByteCounters): Promise<void> {
  const file = await PartialFile.open(path, 0);
  try {
    for await (const chunk of body) {
      await file.write(chunk);
      counters.written += chunk.byteLength;
    }
  } finally {
    await file.close();
  }
}
