import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isKept } from '../partial-file.js';

export interface KeptBlobs {
  /** Paths, with `/`, of the folders that stay. */
  readonly folders: readonly string[];
  readonly files: readonly string[];
}

/**
 * Makes the folder `tree`, or clears it of everything but plain files at the paths of `wanted` that are not longer than said there. No link
 * is followed: what is not a folder on the way to such a file, or not a plain file of this user with one name, is removed.
 */
export function keepBlobs(tree: string, wanted: ReadonlyMap<string, number>): KeptBlobs {
  const kept = { folders: [] as string[], files: [] as string[] };
  const stat = lstatSync(tree, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isDirectory()) rmSync(tree, { force: true });
  mkdirSync(tree, { recursive: true });
  clear(tree, '', { wanted, ways: listWays(wanted.keys()), kept });
  return kept;
}

interface Clearing {
  readonly wanted: ReadonlyMap<string, number>;
  /** The folders that lead to what is wanted. */
  readonly ways: ReadonlySet<string>;
  readonly kept: { readonly folders: string[]; readonly files: string[] };
}

function listWays(paths: Iterable<string>): Set<string> {
  const ways = new Set<string>();
  for (const path of paths) for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) ways.add(path.slice(0, at));
  return ways;
}

function clear(tree: string, folder: string, clearing: Clearing): void {
  for (const name of readdirSync(join(tree, folder))) {
    const path = folder === '' ? name : `${folder}/${name}`;
    if (!keeps(tree, path, clearing)) rmSync(join(tree, path), { recursive: true, force: true });
  }
}

function keeps(tree: string, path: string, clearing: Clearing): boolean {
  const at = join(tree, path);
  const stat = lstatSync(at);
  if (stat.isDirectory() && clearing.ways.has(path)) {
    const before = clearing.kept.files.length;
    clear(tree, path, clearing);
    if (clearing.kept.files.length > before) clearing.kept.folders.push(path);
    return clearing.kept.files.length > before;
  }
  if (!isKept(stat) || stat.size === 0 || stat.size > (clearing.wanted.get(path) ?? 0)) return false;
  // A whole one has the mode of the package by now.
  chmodSync(at, 0o600);
  clearing.kept.files.push(path);
  return true;
}
