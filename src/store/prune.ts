import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { defaultLimits, type Digest, type Limits } from '../core/index.js';
import type { LayoutStore } from './layout.js';
import { removeIfEmpty } from './folder.js';
import { readLeases } from './lease.js';
import { isLayout } from './locate.js';
import { listForgotten } from './leftovers.js';
import { mark } from './mark.js';
import { prunePartials } from './partials.js';
import { listBlobs, restoreTrash, sweep } from './sweep.js';
import { pruneTrees } from './trees.js';

export interface PruneOptions {
  /** True: says what would go, changes nothing. */
  readonly dryRun?: boolean;
  readonly limits?: Limits;
}

export interface PruneResult {
  readonly removed: readonly { readonly digest: Digest; readonly size: number }[];
  /** Of blobs, whole and begun. */
  readonly freedBytes: number;
  /** Blobs that stay: reachable from the index, or put while somebody is at work. */
  readonly kept: number;
  /** What dead writers left behind, begun blobs that nobody went on with, and trees of packages that are gone. */
  readonly leftovers: number;
}

/**
 * Removes blobs that no root of the index reaches. Others may read, put and copy meanwhile: what was put or counted on since the
 * oldest live lease, or since pruning began, stays; names wait. A root that is damaged stops it before anything is removed, as
 * what it names cannot be known. Begun blobs of the last week stay for the next run.
 */
export async function prune(store: LayoutStore, { dryRun = false, limits = defaultLimits }: PruneOptions = {}): Promise<PruneResult> {
  if (!isLayout(store.path)) return { removed: [], freedBytes: 0, kept: 0, leftovers: 0 };
  const lease = await store.lease();
  try {
    return await store.index.whileLocked(async () => {
      if (!dryRun) restoreTrash(store.path);
      const { oldestMs, dead, unowned } = readLeases(store.path);
      const reachable = await mark(store, limits);
      const partials = await prunePartials(store.path, { dryRun });
      const blobs = listBlobs(store.path);
      const unused = blobs.filter(({ digest, mtimeMs }) => !reachable.has(digest) && mtimeMs < oldestMs);
      const removed = dryRun ? unused : unused.filter((blob) => sweep(store.path, blob));
      if (!dryRun) for (const folder of [join(store.path, 'trash'), ...unowned]) removeIfEmpty(folder);
      const leftovers = [...dead, ...listForgotten(store.path)];
      if (!dryRun) for (const path of leftovers) rmSync(path, { recursive: true, force: true });
      const trees = await pruneTrees(store.path, reachable, { dryRun });
      return {
        removed: removed.map(({ digest, size }) => ({ digest, size })),
        freedBytes: removed.reduce((total, { size }) => total + size, partials.bytes),
        kept: blobs.length - removed.length,
        leftovers: leftovers.length + partials.count + trees,
      };
    });
  } finally {
    lease.release();
  }
}
