import { chmodSync, lstatSync, mkdirSync, renameSync, type Stats, utimesSync } from 'node:fs';
import { dirname } from 'node:path';
import { isSystemError, syncFolder, toIoError } from '../bytes/index.js';
import { createError, type Digest } from '../core/index.js';
import { toBlobPath } from './blob-path.js';

/** What a descriptor promises of a blob. */
export interface Promised {
  readonly digest: Digest;
  readonly size: number;
}

/** Size of a blob's file; undefined when there is none. Anything but a plain file is refused: a link planted there could lead anywhere. */
export function findBlobSize(layout: string, digest: Digest): number | undefined {
  const path = toBlobPath(layout, digest);
  const stat = findStat(path);
  if (stat === undefined) return undefined;
  if (!stat.isFile())
    throw createError('bytes/io', {
      message: `Cannot use the blob "${path}": it is not a plain file`,
      hint: 'Remove it and fetch or build the package again',
      where: path,
    });
  return stat.size;
}

function findStat(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isSystemError(error, 'ENOENT') || isSystemError(error, 'ENOTDIR')) return undefined;
    throw toIoError(error, 'read', path);
  }
}

export function hasBlobFile(layout: string, { digest, size }: Promised): boolean {
  return findBlobSize(layout, digest) === size;
}

/** Path of a blob that is there and as long as promised; throws `store/blob-missing` or `bytes/size-mismatch`. */
export function toBlobFile(layout: string, { digest, size }: Promised): string {
  const path = toBlobPath(layout, digest);
  const found = findBlobSize(layout, digest);
  if (found === size) return path;
  if (found === undefined) {
    throw createError('store/blob-missing', {
      message: `Cannot read the blob ${digest}: it is not in "${layout}"`,
      hint: 'Fetch or build the package again',
      where: digest,
    });
  }
  throw createError('bytes/size-mismatch', {
    message: `Cannot use the blob ${digest}: expected ${size} bytes, found ${found}`,
    hint: 'The bytes are damaged or cut off: fetch or build the package again',
    where: digest,
  });
}

/** True when the blob is there; its time is set to now, which tells a pruner that somebody counts on it. */
export function touchBlobFile(layout: string, promised: Promised): boolean {
  if (!hasBlobFile(layout, promised)) return false;
  const now = new Date();
  try {
    utimesSync(toBlobPath(layout, promised.digest), now, now);
    return true;
  } catch (error) {
    // Another user's blob cannot be touched, but it is there.
    return !isSystemError(error, 'ENOENT');
  }
}

/**
 * A finished, synced file becomes a blob. An existing one is replaced by the same bytes, which repairs it if it was damaged.
 * False when it was there already.
 */
export function publishBlobFile(layout: string, ingest: string, promised: Promised): boolean {
  const path = toBlobPath(layout, promised.digest);
  const fresh = !hasBlobFile(layout, promised);
  chmodSync(ingest, 0o444);
  makeFolder(dirname(path));
  renameSync(ingest, path);
  syncFolder(dirname(path));
  return fresh;
}

function makeFolder(folder: string): void {
  const first = mkdirSync(folder, { recursive: true });
  if (first !== undefined) syncFolder(dirname(first));
}
