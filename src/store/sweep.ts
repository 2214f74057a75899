import { lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSystemError, toIoError } from '../bytes/index.js';
import { type Digest, digestAlgorithms, isDigest } from '../core/index.js';
import { toBlobPath } from './blob-path.js';
import { listFolder } from './folder.js';

export interface StoredFile {
  readonly digest: Digest;
  readonly size: number;
  readonly mtimeMs: number;
}

/** All blobs; other things that lie in their folders are nobody's business. */
export function listBlobs(layout: string): StoredFile[] {
  return listBlobNames(layout).flatMap((digest) => findFile(toBlobPath(layout, digest), digest) ?? []);
}

/** What bears the name of a blob, plain file or not. */
export function listBlobNames(layout: string): Digest[] {
  return Object.keys(digestAlgorithms).flatMap((algorithm) =>
    listFolder(join(layout, 'blobs', algorithm))
      .map((hex) => `${algorithm}:${hex}`)
      .filter(isDigest),
  );
}

function findFile(path: string, digest: Digest): StoredFile | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true ? { digest, size: stat.size, mtimeMs: stat.mtimeMs } : undefined;
}

/**
 * Takes one blob away, by way of `trash/`: if somebody counted on it in the very last moment, its time has changed, and it goes back.
 * False when it stays.
 */
export function sweep(layout: string, { digest, mtimeMs }: StoredFile): boolean {
  const path = toBlobPath(layout, digest);
  const trash = toTrashPath(layout, digest);
  try {
    if (findFile(path, digest)?.mtimeMs !== mtimeMs) return false;
    mkdirSync(dirname(trash), { recursive: true });
    renameSync(path, trash);
    if (findFile(trash, digest)?.mtimeMs !== mtimeMs) {
      renameSync(trash, path);
      return false;
    }
    rmSync(trash);
    return true;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return false;
    throw toIoError(error, 'remove', path);
  }
}

function toTrashPath(layout: string, digest: Digest): string {
  return join(layout, 'trash', digest.replace(':', '-'));
}

/** What a pruner that died had taken away is judged again. */
export function restoreTrash(layout: string): void {
  for (const name of listFolder(join(layout, 'trash'))) {
    const digest = name.replace('-', ':');
    if (isDigest(digest)) renameSync(join(layout, 'trash', name), toBlobPath(layout, digest));
  }
}
