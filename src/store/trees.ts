import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isLocked, withFolderLock } from '../bytes/index.js';
import type { Digest } from '../core/index.js';
import { findItemState, listDigestItems, removeItem, toDigestItem } from './digest-items.js';
import { removeIfEmpty } from './folder.js';
import type { LayoutStore } from './layout.js';
import { listForgottenIn } from './leftovers.js';

const toFolder = (layout: string): string => join(layout, 'trees');

/**
 * Runs `action` on the place of the tree of a package's files that its targets share, by root digest. It may hold the tree or nothing; nobody else
 * makes, clones or prunes that tree meanwhile.
 */
export function withTree<T>(store: LayoutStore, root: Digest, action: (tree: string) => Promise<T>, signal?: AbortSignal): Promise<T> {
  const { path, lock } = toDigestItem(toFolder(store.path), root);
  return withFolderLock(
    lock,
    () => mkdirSync(dirname(path), { recursive: true }),
    () => action(path),
    { timeoutMs: Infinity, long: true, signal },
  );
}

/** Removes the trees of packages that are gone, and what dead processes left of making them. Gives how many. */
export async function pruneTrees(layout: string, reachable: ReadonlySet<Digest>, { dryRun }: { readonly dryRun: boolean }): Promise<number> {
  const folder = toFolder(layout);
  const items = listDigestItems(folder);
  // Who makes a tree holds its lock, and may need hours.
  const isQuiet = !items.some(({ lock }) => isLocked(lock, { long: true }));
  const unfinished = isQuiet ? listForgottenIn(folder) : [];
  if (!dryRun) for (const path of unfinished) rmSync(path, { recursive: true, force: true });
  let count = unfinished.length;
  for (const item of items) {
    if (reachable.has(item.digest) && findItemState(item) !== undefined) continue;
    if (await removeItem(item, { dryRun })) count += 1;
  }
  if (!dryRun) removeIfEmpty(folder);
  return count;
}
