import { closeSync, constants, lstatSync, lutimesSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSystemError, syncFolder, toIoError } from '../bytes/index.js';
import { type BlobClaims, type Digest, isRepository } from '../core/index.js';
import { findBlobSize, touchBlobFile } from './blob-file.js';
import { type DigestItem, findItemState, listDigestItems, toDigestItem } from './digest-items.js';
import { listFolder, removeIfEmpty } from './folder.js';
import { judgeRepository } from './judge-repository.js';

/** A folder of claims among the parts of names: the grammar lets none begin with a low line. */
const claimFolder = '_';

/** Others may remove an empty folder between making it and writing into it, but not for ever. */
const attempts = 100;

const toClaimsFolder = (layout: string): string => join(layout, 'registry', 'claims');

/** Claims of a layout: an empty file each, whose time is when the claim was made or renewed. */
export function createClaims(layout: string): BlobClaims {
  return {
    claim: async (repository, digest) => {
      for (const folder of placeClaim(layout, repository, digest)) syncFolder(folder);
    },
    hasClaim: (repository, digest) => isFile(toClaim(layout, repository, digest).path) && findBlobSize(layout, digest) !== undefined,
    listClaims: (repository) => {
      const items = listDigestItems(toClaimsOf(layout, repository));
      return items.filter(({ path, digest }) => isFile(path) && findBlobSize(layout, digest) !== undefined).map(({ digest }) => digest);
    },
    listClaimants: () => listClaimants(layout),
    dropClaim: async (repository, digest) => removeClaimFile(layout, toClaim(layout, repository, digest)),
    touch: (digest) => touchBlob(layout, digest),
  };
}

/** Repositories that have claims. */
export function listClaimants(layout: string): string[] {
  return listBelow(toClaimsFolder(layout), []);
}

/** Names end where their claims begin. */
function listBelow(folder: string, above: readonly string[]): string[] {
  return listFolder(folder).flatMap((name) => {
    if (name === claimFolder) return [above.join('/')];
    const parts = [...above, name];
    return isRepository(parts.join('/')) && isFolder(join(folder, name)) ? listBelow(join(folder, name), parts) : [];
  });
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

export function toClaimsOf(layout: string, repository: string): string {
  return join(toClaimsFolder(layout), ...judgeRepository(repository).split('/'), claimFolder);
}

function toClaim(layout: string, repository: string, digest: Digest): DigestItem {
  return toDigestItem(toClaimsOf(layout, repository), digest);
}

/**
 * Makes or renews a claim, and gives the folders that have to be synced. It comes before the blob's time is set: a collector that did not see the
 * claim finds another time.
 */
export function placeClaim(layout: string, repository: string, digest: Digest): string[] {
  const { path } = toClaim(layout, repository, digest);
  for (let attempt = 1; ; attempt++) {
    try {
      const folders = renew(path) ? [] : create(path);
      touchBlob(layout, digest);
      return folders;
    } catch (error) {
      if (attempt >= attempts || !['ENOENT', 'EEXIST'].some((code) => isSystemError(error, code))) throw toIoError(error, 'write', path);
    }
  }
}

function renew(path: string): boolean {
  if (!isFile(path)) return false;
  const now = new Date();
  lutimesSync(path, now, now);
  return true;
}

/** Each new folder is a line in the one above it. */
function create(path: string): string[] {
  const folder = dirname(path);
  const made = mkdirSync(folder, { recursive: true });
  rmSync(path, { recursive: true, force: true });
  closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644));
  const folders = [folder];
  if (made !== undefined) for (let above = dirname(folder); above.length >= dirname(made).length; above = dirname(above)) folders.push(above);
  return folders;
}

/** False when there was none. */
export function removeClaimFile(layout: string, item: DigestItem): boolean {
  try {
    if (findItemState(item) === undefined) return false;
    rmSync(item.path, { recursive: true, force: true });
    for (let folder = dirname(item.path); folder.length > layout.length; folder = dirname(folder)) removeIfEmpty(folder);
    return true;
  } catch (error) {
    throw toIoError(error, 'remove', item.path);
  }
}

function touchBlob(layout: string, digest: Digest): boolean {
  const size = findBlobSize(layout, digest);
  return size !== undefined && touchBlobFile(layout, { digest, size });
}

function isFile(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch (error) {
    if (isSystemError(error, 'ENOTDIR')) return false;
    throw toIoError(error, 'read', path);
  }
}
