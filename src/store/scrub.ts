import { mapConcurrent } from '../bytes/index.js';
import { type ByteCounters, createCounters, defaultLimits, type Digest, type Limits, type Progress, silentProgress } from '../core/index.js';
import { toBlobPath } from './blob-path.js';
import { hashBlobFile } from './hash-blob-file.js';
import type { LayoutStore } from './layout.js';
import { listIncomplete, type MissingBlob } from './list-incomplete.js';
import { isMirror } from './mirror-mark.js';
import { createClock, createPace } from './pace.js';
import { setAside } from './quarantine.js';
import { listBlobNames } from './sweep.js';

export interface ScrubOptions {
  readonly signal?: AbortSignal;
  readonly progress?: Progress;
  readonly counters?: ByteCounters;
  readonly limits?: Limits;
  /** Reads no faster than this, so that others get their share of the disk. */
  readonly bytesPerSecond?: number;
  /** True: bad blobs stay where they are. */
  readonly dryRun?: boolean;
}

export interface BadBlob {
  readonly digest: Digest;
  readonly size: number;
  /** What its bytes hash to; null for what is no plain file, or cannot be read any more. */
  readonly found: Digest | null;
  /** Where it lies now. */
  readonly path: string;
}

export interface ScrubResult {
  /** Blobs that were looked at, good and bad, and their bytes. */
  readonly checked: number;
  readonly bytes: number;
  readonly bad: readonly BadBlob[];
  /** None in the folder of a mirror, where packages need not be whole. */
  readonly missing: readonly MissingBlob[];
  /** Names that reach a bad or missing blob; of roots without one repository and digest. */
  readonly affected: readonly string[];
}

const concurrency = 2;

/**
 * Hashes every blob again, and sets those aside that are not what their name says, so that whoever puts them is not told that they are there. Others
 * may read, put and prune meanwhile.
 */
export async function scrub(store: LayoutStore, options: ScrubOptions = {}): Promise<ScrubResult> {
  const { progress = silentProgress, counters = createCounters(), limits = defaultLimits, signal, bytesPerSecond, dryRun = false } = options;
  const item = progress.start('verify', 'blobs');
  const pace = bytesPerSecond === undefined ? undefined : createPace(bytesPerSecond, createClock(signal));
  const onBytes = async (count: number) => {
    item.advance(count);
    await pace?.(count);
  };
  const total = { checked: 0, bytes: 0 };
  const bad: BadBlob[] = [];
  const check = async (digest: Digest) => {
    const hashed = await hashBlobFile(store.path, digest, { counters, signal, onBytes });
    if (hashed === undefined) return;
    const { size, found, file } = hashed;
    total.checked += 1;
    total.bytes += size;
    if (found === digest) return;
    const path = dryRun ? toBlobPath(store.path, digest) : setAside(store.path, digest, file);
    if (path !== undefined) bad.push({ digest, size, found, path });
  };
  try {
    await mapConcurrent(listBlobNames(store.path), concurrency, check);
    item.done();
  } catch (error) {
    item.done('failed');
    throw error;
  }
  // A mirror has what was asked for; the rest is not lost.
  const isWhole = !isMirror(store.path);
  return { ...total, bad, ...(await listIncomplete(store, { bad: new Set(bad.map(({ digest }) => digest)), isWhole }, limits)) };
}
