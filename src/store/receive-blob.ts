import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fetchBlob, toIoError, withFolderLock } from '../bytes/index.js';
import type { ByteCounters, PutOptions, StoredBlob, StoredContent } from '../core/index.js';
import { publishBlobFile, touchBlobFile } from './blob-file.js';
import { toPartial } from './partials.js';

/** Smaller blobs come anew faster than what is there of them is hashed again and locks are taken. */
export const receivedBytes = 16 * 1024 * 1024;

/**
 * Takes a blob of another place into a layout, by way of a file that stays when the transfer breaks or this process dies; the next run
 * goes on from it. Of several processes that want the same blob one fetches it, and the others wait for it and then find it there.
 */
export async function receiveBlob(
  layout: string,
  { blobs, descriptor }: StoredContent,
  { progress, signal }: PutOptions,
  counters: ByteCounters,
): Promise<StoredBlob> {
  const { digest, size } = descriptor;
  const partial = toPartial(layout, digest);
  const receive = async () => {
    if (touchBlobFile(layout, descriptor)) {
      counters.skipped += size;
      return { digest, size, fresh: false };
    }
    await fetchBlob(blobs, descriptor, partial.path, { counters, signal, onBytes: (count) => progress?.advance(count) });
    return { digest, size, fresh: publishBlobFile(layout, partial.path, descriptor) };
  };
  try {
    return await withFolderLock(partial.lock, () => mkdirSync(dirname(partial.path), { recursive: true }), receive, {
      timeoutMs: Infinity,
      long: true,
      signal,
    });
  } catch (error) {
    throw toIoError(error, 'write to', layout);
  }
}
