import { stat } from 'node:fs/promises';
import { drain, fromFile, toIoError, verified } from '../bytes/index.js';
import { type ByteRange, type ByteStream, type Digest, isToolkitError, type Part } from '../core/index.js';
import { type FileCache, openFileCache } from '../store/index.js';
import type { OpsContext } from './context.js';
import { openVerified } from './open-part.js';

/** A file that came from elsewhere, is on this machine and was hashed. */
export interface ProvenFile {
  readonly size: number;
  /** In the cache: to be read, not to be changed or moved. */
  readonly path: string;
  open(range?: ByteRange): Promise<ByteStream>;
}

/** `path` is what it is called in messages. */
export interface WantedFile {
  readonly path: string;
  readonly digest: Digest;
}

/** One for a context, so that it knows what is in use. */
const caches = new WeakMap<OpsContext['keep'], FileCache>();

export function openCacheOf({ home, limits, keep }: OpsContext): FileCache {
  const cache = caches.get(keep) ?? openFileCache(home, limits);
  caches.set(keep, cache);
  return cache;
}

/** From the cache, hashed again, else by `fetch`, which puts it there; one process fetches for all that want it. */
export async function openProven(wanted: WantedFile, fetch: (cache: FileCache) => Promise<string>, context: OpsContext): Promise<ProvenFile> {
  const { counters, signal } = context;
  const cache = openCacheOf(context);
  const find = () => findProven(wanted, cache, context);
  const path = (await find()) ?? (await cache.exclusively(wanted.digest, async () => (await find()) ?? fetch(cache), signal));
  const { size } = await statOf(path);
  return { size, path, open: async (range) => fromFile(path, range, counters) };
}

/** A file of a package at a URL, kept for the next time. Throws as reading it does. */
export async function openKept(part: Part & { readonly digest: Digest }, context: OpsContext): Promise<ProvenFile> {
  const { counters, limits, progress } = context;
  const fetch = async (cache: FileCache) => {
    const item = progress.start('fetch', part.path, part.size);
    try {
      const path = await cache.receive(part.digest, await openVerified(part), { expectedBytes: part.size, counters });
      item.done();
      cache.trim(limits.linkCacheBytes);
      return path;
    } catch (error) {
      item.done('failed');
      throw error;
    }
  };
  return openProven(part, fetch, context);
}

/** A damaged file goes from the cache. */
async function findProven({ digest, path }: WantedFile, cache: FileCache, { counters }: OpsContext): Promise<string | undefined> {
  const found = cache.find(digest);
  if (found === undefined) return undefined;
  try {
    const { size } = await statOf(found);
    await drain(verified(fromFile(found, undefined, counters), { digest, size }, path, counters));
    return found;
  } catch (error) {
    const isDamaged = isToolkitError(error, 'bytes/digest-mismatch') || isToolkitError(error, 'bytes/size-mismatch');
    if (!isDamaged && !isToolkitError(error, 'bytes/not-found')) throw error;
    if (isDamaged) cache.remove(digest);
    return undefined;
  }
}

async function statOf(path: string): Promise<{ readonly size: number }> {
  try {
    return await stat(path);
  } catch (error) {
    throw toIoError(error, 'read', path);
  }
}
