import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync, type Stats, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createStreamHash, isSystemError, PartialFile, pump, syncFolder, temporaryName, toIoError, withLock } from '../bytes/index.js';
import {
  type ByteCounters,
  type ByteStream,
  createCounters,
  createError,
  type Digest,
  digestAlgorithms,
  type Limits,
  parseDigest,
  splitDigest,
} from '../core/index.js';
import { listFolder } from './folder.js';
import { listForgottenIn } from './leftovers.js';

export interface ReceiveOptions {
  /** About how many will come, when that is known: long ones are hashed in a thread. */
  readonly expectedBytes?: number | undefined;
  readonly counters?: ByteCounters | undefined;
}

/**
 * Files by digest that can be had again from elsewhere. Safe with several processes. Their bytes were right when they came and may be damaged
 * since: whoever uses one hashes it again.
 */
export interface FileCache {
  /** Absolute; undefined when it is not there. Counts as a use. */
  find(digest: Digest): string | undefined;
  /**
   * Takes a file in: written once, hashed on the way, synced, then visible. Throws `bytes/digest-mismatch`, or `bytes/limit` for more than
   * `limits.linkedBytes`, and keeps nothing then.
   */
  receive(digest: Digest, stream: ByteStream, options?: ReceiveOptions): Promise<string>;
  remove(digest: Digest): void;
  /** One at a time of all processes that want to fetch the same file. */
  exclusively<T>(digest: Digest, action: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Bytes of all files. */
  total(): number;
  /** Removes the least recently used files until at most so many bytes stay; what this process has found or received stays. Gives the bytes that went. */
  trim(maxBytes: number): number;
  /** Removes all files, and what dead processes left. Gives the bytes that went. */
  clear(): number;
}

interface CachedFile {
  readonly path: string;
  readonly size: number;
  readonly usedMs: number;
}

const hexName = /^[0-9a-f]{64,128}$/;

/** Files that are linked to by digest, below the folder of the local store. Made when the first one comes. */
export function openFileCache(home: string, limits: Limits): FileCache {
  const root = join(home, 'cache');
  const used = new Set<string>();
  const toPath = (digest: Digest): string => {
    const { algorithm, hex } = splitDigest(parseDigest(digest));
    return join(root, algorithm, hex.slice(0, 2), hex);
  };
  return {
    find: (digest) => {
      const path = toPath(digest);
      if (!touch(path)) return undefined;
      used.add(path);
      return path;
    },
    receive: async (digest, stream, options = {}) => {
      const path = toPath(digest);
      await receive(path, digest, stream, limits.linkedBytes, options);
      used.add(path);
      return path;
    },
    remove: (digest) => rmSync(toPath(digest), { recursive: true, force: true }),
    exclusively: (digest, action, signal) => {
      const path = toPath(digest);
      makeFolder(dirname(path));
      return withLock(`${path}.lock`, action, { timeoutMs: Infinity, long: true, purpose: `fetch ${digest}`, signal });
    },
    total: () => sum(listFiles(root)),
    trim: (maxBytes) => trim(listFiles(root), maxBytes, used),
    clear: () => clear(root),
  };
}

/** All files that were fetched for links, for `prune`. Gives the bytes that went, or would go. */
export function clearFileCache(home: string, limits: Limits, { dryRun = false }: { readonly dryRun?: boolean } = {}): number {
  const cache = openFileCache(home, limits);
  return dryRun ? cache.total() : cache.clear();
}

/** A link or a folder in its place is none of ours. */
function touch(path: string): boolean {
  if (findStat(path)?.isFile() !== true) return false;
  try {
    const now = new Date();
    utimesSync(path, now, now);
    return true;
  } catch (error) {
    // Another user's file cannot be touched, but it is there.
    return !isSystemError(error, 'ENOENT');
  }
}

function findStat(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isSystemError(error, 'ENOTDIR')) return undefined;
    throw toIoError(error, 'read', path);
  }
}

async function receive(path: string, digest: Digest, stream: ByteStream, limit: number, options: ReceiveOptions): Promise<void> {
  makeFolder(dirname(path));
  const temporary = temporaryName(path);
  try {
    await write(temporary, digest, limited(stream, limit, digest), options);
    chmodSync(temporary, 0o444);
    renameSync(temporary, path);
    syncFolder(dirname(path));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw toIoError(error, 'write', path);
  }
}

async function write(
  path: string,
  digest: Digest,
  stream: ByteStream,
  { expectedBytes = 0, counters = createCounters() }: ReceiveOptions,
): Promise<void> {
  const { algorithm, hex } = splitDigest(digest);
  const file = await PartialFile.open(path, 0);
  const hash = createStreamHash(algorithm, expectedBytes);
  try {
    await pump(stream, hash, file, counters);
    const found = await hash.digest();
    if (found !== hex) throw mismatch(digest, `${algorithm}:${found}`);
    await file.sync(() => {});
  } finally {
    hash.drop();
    await file.close();
  }
}

function mismatch(expected: Digest, found: string): Error {
  return createError('bytes/digest-mismatch', {
    message: `Cannot use what came: expected ${expected}, found ${found}`,
    hint: 'It is damaged, or another file than it was: get it from elsewhere',
    where: expected,
  });
}

async function* limited(stream: ByteStream, limit: number, digest: Digest): ByteStream {
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > limit) throw createError('bytes/limit', { message: `Cannot fetch ${digest}: it is larger than ${limit} bytes`, where: digest });
    yield chunk;
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    throw toIoError(error, 'make the folder', folder);
  }
}

function listFolders(root: string): string[] {
  const algorithms = Object.keys(digestAlgorithms).map((algorithm) => join(root, algorithm));
  return algorithms.flatMap((folder) =>
    listFolder(folder)
      .filter((name) => /^[0-9a-f]{2}$/.test(name))
      .map((name) => join(folder, name)),
  );
}

function listFiles(root: string): CachedFile[] {
  const paths = listFolders(root).flatMap((folder) =>
    listFolder(folder)
      .filter((name) => hexName.test(name))
      .map((name) => join(folder, name)),
  );
  return paths.flatMap((path) => {
    const stat = findStat(path);
    return stat?.isFile() === true ? [{ path, size: stat.size, usedMs: stat.mtimeMs }] : [];
  });
}

function sum(files: readonly CachedFile[]): number {
  return files.reduce((total, { size }) => total + size, 0);
}

function trim(files: readonly CachedFile[], maxBytes: number, used: ReadonlySet<string>): number {
  const before = sum(files);
  let left = before;
  for (const { path, size } of files.filter((file) => !used.has(file.path)).toSorted((a, b) => a.usedMs - b.usedMs)) {
    if (left <= maxBytes) break;
    rmSync(path, { force: true });
    left -= size;
  }
  return before - left;
}

/** What others are receiving right now stays, and so do their locks. */
function clear(root: string): number {
  const files = listFiles(root);
  for (const { path } of files) rmSync(path, { force: true });
  for (const folder of listFolders(root)) for (const path of listForgottenIn(folder)) rmSync(path, { recursive: true, force: true });
  return sum(files);
}
