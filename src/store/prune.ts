import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { defaultLimits, type Digest, type Limits } from '../core/index.js';
import type { LayoutStore } from './layout.js';
import { removeIfEmpty } from './folder.js';
import type { IndexChange } from './index-file.js';
import { readLeases } from './lease.js';
import { isLayout } from './locate.js';
import { listForgotten } from './leftovers.js';
import { mark } from './mark.js';
import { prunePartials } from './partials.js';
import { pruneClaims } from './prune-claims.js';
import { listBlobs, restoreTrash, sweep } from './sweep.js';
import { pruneTrees } from './trees.js';
import { listUnwanted } from './untagged.js';
import { purgeUploadFolders } from './upload-folder.js';

export interface PruneOptions {
  /** True: says what would go, changes nothing. */
  readonly dryRun?: boolean;
  readonly limits?: Limits;
  /** Blobs that were put or counted on within this time stay, as somebody may be about to name them; 0 by default. */
  readonly graceMs?: number;
  /** Uploads to which nothing was added for this long go; a week by default. */
  readonly uploadAgeMs?: number;
  /** Also manifests that a registry holds without a tag, older than this and attached to nothing that is there; absent: they stay. */
  readonly untagged?: { readonly olderThanMs: number };
  /** Ends it between two steps; the next run does what was left. */
  readonly signal?: AbortSignal | undefined;
}

export interface PruneResult {
  readonly removed: readonly { readonly digest: Digest; readonly size: number }[];
  /** Of blobs, whole and begun. */
  readonly freedBytes: number;
  /** Blobs that stay: reachable from the index, claimed, or put while somebody is at work. */
  readonly kept: number;
  /** What dead writers left behind, begun blobs that nobody went on with, and trees of packages that are gone. */
  readonly leftovers: number;
  /** Uploads to a registry that nobody went on with. */
  readonly uploads: number;
  /** Claims of repositories that are over or needless. */
  readonly claims: number;
  /** Manifests that went from the index. */
  readonly untagged: readonly { readonly repository: string; readonly digest: Digest }[];
}

type Settings = Required<Omit<PruneOptions, 'untagged' | 'signal'>> & Pick<PruneOptions, 'untagged' | 'signal'>;

const weekMs = 7 * 24 * 3_600_000;
const nothing: PruneResult = { removed: [], freedBytes: 0, kept: 0, leftovers: 0, uploads: 0, claims: 0, untagged: [] };

/**
 * Removes blobs that no root of the index reaches and no repository claims. Others may read, put and copy meanwhile: what was put or counted on since
 * the oldest live lease, or since pruning began, stays; names wait. A root that is damaged stops it before anything is removed, as
 * what it names cannot be known. Begun blobs of the last week stay for the next run.
 */
export async function prune(store: LayoutStore, options: PruneOptions = {}): Promise<PruneResult> {
  if (!isLayout(store.path)) return nothing;
  const settings = { dryRun: false, limits: defaultLimits, graceMs: 0, uploadAgeMs: weekMs, ...options };
  const lease = await store.lease();
  try {
    return await store.index.whileLocked((update) => pruneLocked(store, settings, update));
  } finally {
    lease.release();
  }
}

async function pruneLocked(store: LayoutStore, settings: Settings, update: (change: IndexChange) => void): Promise<PruneResult> {
  const { dryRun, limits, uploadAgeMs, signal } = settings;
  if (!dryRun) restoreTrash(store.path);
  const { oldestMs, dead, unowned } = readLeases(store.path);
  const unwanted = settings.untagged === undefined ? [] : await listUnwanted(store, settings.untagged.olderThanMs, limits);
  const gone = new Set(unwanted.map(({ entry }) => entry));
  const reachable = await mark(
    store,
    store.index.read().entries.filter((entry) => !gone.has(entry)),
    limits,
    signal,
  );
  if (!dryRun && gone.size > 0) update((index) => ({ ...index, entries: index.entries.filter((entry) => !gone.has(entry)) }));
  const partials = await prunePartials(store.path, { dryRun });
  const uploads = await purgeUploadFolders(store.path, uploadAgeMs, { dryRun });
  const claims = await pruneClaims(store, limits, { dryRun });
  const newest = Math.min(oldestMs, Date.now() - settings.graceMs);
  const blobs = listBlobs(store.path);
  const unused = blobs.filter(({ digest, mtimeMs }) => !reachable.has(digest) && !claims.claimed.has(digest) && mtimeMs < newest);
  const removed = dryRun ? unused : unused.filter((blob) => signal?.aborted !== true && sweep(store.path, blob));
  if (!dryRun) for (const folder of [join(store.path, 'trash'), ...unowned]) removeIfEmpty(folder);
  const leftovers = [...dead, ...listForgotten(store.path)];
  if (!dryRun) for (const path of leftovers) rmSync(path, { recursive: true, force: true });
  const trees = await pruneTrees(store.path, reachable, { dryRun });
  return {
    removed: removed.map(({ digest, size }) => ({ digest, size })),
    freedBytes: removed.reduce((total, { size }) => total + size, partials.bytes + uploads.bytes),
    kept: blobs.length - removed.length,
    leftovers: leftovers.length + partials.count + trees,
    uploads: uploads.ids.length,
    claims: claims.count,
    untagged: unwanted.map(({ repository, digest }) => ({ repository, digest })),
  };
}
