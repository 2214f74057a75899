import { join } from 'node:path';
import type { Digest } from '../core/index.js';
import { findBlobSize } from './blob-file.js';
import { type DigestItem, findItemState, listDigestItems, removeItem, toDigestItem } from './digest-items.js';
import { removeIfEmpty } from './folder.js';

/** Below the folder of the leases; no process has this number. */
export const partialFolder = 'partial';

/** Long enough for a weekend and a bad line, short enough that a model nobody wants any more does not fill the disk for good. */
const keptMs = 7 * 24 * 3_600_000;

const toFolder = (layout: string): string => join(layout, 'ingest', partialFolder);

/** Where a blob is received: its name is always the same, so that the next run finds what is there of it. */
export function toPartial(layout: string, digest: Digest): DigestItem {
  return toDigestItem(toFolder(layout), digest);
}

export interface PrunedPartials {
  readonly count: number;
  readonly bytes: number;
}

/** Removes begun blobs that nobody went on with for a week, or that have come whole another way. One that somebody works on stays. */
export async function prunePartials(layout: string, options: { readonly dryRun: boolean }): Promise<PrunedPartials> {
  const pruned = { count: 0, bytes: 0 };
  for (const item of listDigestItems(toFolder(layout))) {
    const state = findItemState(item);
    const isWanted = state !== undefined && Date.now() - state.mtimeMs <= keptMs && findBlobSize(layout, item.digest) === undefined;
    if (isWanted || !(await removeItem(item, options))) continue;
    pruned.count += 1;
    pruned.bytes += state?.size ?? 0;
  }
  if (!options.dryRun) for (const folder of [toFolder(layout), join(layout, 'ingest')]) removeIfEmpty(folder);
  return pruned;
}
