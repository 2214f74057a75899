import { constants, lstatSync } from 'node:fs';
import { createStreamHash, fromFile, isSystemError, pump, toIoError } from '../bytes/index.js';
import { assertWanted, type ByteCounters, type ByteStream, type Digest, isToolkitError, parseDigest, splitDigest } from '../core/index.js';
import { toBlobPath } from './blob-path.js';

export interface HashOptions {
  readonly counters: ByteCounters;
  readonly signal: AbortSignal | undefined;
  /** Told of each piece before it is hashed; the next is read when the promise resolves. */
  readonly onBytes: (bytes: number) => Promise<void>;
}

export interface HashedFile {
  readonly size: number;
  /** Null for what is no plain file, or cannot be read any more. */
  readonly found: Digest | null;
  /** Which file it was, also under another name. */
  readonly file: string;
}

/** A file that was put in place of another meanwhile is looked at anew; not for ever. */
const attempts = 3;

/** Links are not followed, and nobody waits for the other end of a pipe. */
const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What the file of a blob hashes to by the blob's own algorithm. Undefined when it is gone. */
export async function hashBlobFile(layout: string, digest: Digest, options: HashOptions): Promise<HashedFile | undefined> {
  const path = toBlobPath(layout, digest);
  for (let attempt = 1; ; attempt++) {
    const before = findFile(path);
    if (before === undefined) return undefined;
    const found = before.isPlain ? await hashFile(path, digest, before.size, options) : null;
    const hashed = { size: before.size, found, file: before.file };
    if (found === digest || attempt >= attempts || findFile(path)?.file === before.file) return hashed;
  }
}

async function hashFile(path: string, digest: Digest, size: number, options: HashOptions): Promise<Digest | null> {
  const { algorithm } = splitDigest(digest);
  const hash = createStreamHash(algorithm, size);
  try {
    await pump(watched(fromFile(path, undefined, options.counters, flags), options), hash, undefined, options.counters);
    return parseDigest(`${algorithm}:${await hash.digest()}`);
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  } finally {
    hash.drop();
  }
}

async function* watched(stream: ByteStream, { signal, onBytes }: HashOptions): ByteStream {
  for await (const chunk of stream) {
    assertWanted(signal);
    await onBytes(chunk.byteLength);
    yield chunk;
  }
}

/** A broken sector, and what became a link or went away in this moment; the latter is found out when it is looked at again. */
function isUnreadable(error: unknown): boolean {
  const cause = isToolkitError(error) ? error.cause : undefined;
  return ['EIO', 'ELOOP', 'ENOENT'].some((code) => isSystemError(cause, code));
}

interface FoundFile {
  readonly file: string;
  readonly size: number;
  readonly isPlain: boolean;
}

function findFile(path: string): FoundFile | undefined {
  try {
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? undefined : { file: toFileMark(stat), size: Number(stat.size), isPlain: stat.isFile() };
  } catch (error) {
    throw toIoError(error, 'read', path);
  }
}

/** The same for one file wherever it is renamed to. */
export function toFileMark({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${dev}:${ino}`;
}
