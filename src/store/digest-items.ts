import { lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked, isSystemError, toIoError, withLock } from '../bytes/index.js';
import { type Digest, isDigest, isToolkitError, parseDigest, splitDigest } from '../core/index.js';
import { listFolder } from './folder.js';

/** Something that a store keeps for a digest beside its blobs: `<algorithm>-<hex>` in a folder, and while one works on it a lock beside it. */
export interface DigestItem {
  readonly digest: Digest;
  readonly path: string;
  readonly lock: string;
}

/** The digest is judged here once more, before it becomes a path. */
export function toDigestItem(folder: string, digest: Digest): DigestItem {
  const { algorithm, hex } = splitDigest(parseDigest(digest));
  const path = join(folder, `${algorithm}-${hex}`);
  return { digest, path, lock: `${path}.lock` };
}

/** Also those of which a dead process left nothing but the lock; what has other names is nobody's business. */
export function listDigestItems(folder: string): DigestItem[] {
  const digests = listFolder(folder).map((name) => name.replace(/\.lock$/, '').replace('-', ':'));
  return [...new Set(digests)].filter(isDigest).map((digest) => toDigestItem(folder, digest));
}

/** When it was written to last, in milliseconds since 1970, and its size; undefined when only its lock is there. */
export function findItemState({ path }: DigestItem): { readonly mtimeMs: number; readonly size: number } | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isSystemError(error, 'ENOTDIR')) return undefined;
    throw toIoError(error, 'read', path);
  }
}

/** False when somebody works on it, or has come to work on it right now: then it stays. */
export async function removeItem({ path, lock }: DigestItem, { dryRun }: { readonly dryRun: boolean }): Promise<boolean> {
  if (isLocked(lock, { long: true })) return false;
  if (dryRun) return true;
  try {
    await withLock(lock, () => rmSync(path, { recursive: true, force: true }), { timeoutMs: 0, long: true });
    return true;
  } catch (error) {
    if (isToolkitError(error, 'store/locked')) return false;
    throw toIoError(error, 'remove', path);
  }
}
