import { lstatSync } from 'node:fs';
import { type Digest, isToolkitError, type Limits, type NamedDescriptor } from '../core/index.js';
import { findSubject, readManifest } from '../oci/index.js';
import { findBlobSize } from './blob-file.js';
import { toBlobPath } from './blob-path.js';
import type { LayoutEntry } from './layout-index.js';
import type { LayoutStore } from './layout.js';
import { findUntagged } from './repository-roots.js';

/** A root without a tag that nobody needs any more. */
export interface UntaggedRoot {
  readonly entry: LayoutEntry;
  readonly repository: string;
  readonly digest: Digest;
}

/** Manifests that a registry holds without a tag, older than `olderThanMs`, that are attached to nothing, or to what is gone from the store. */
export async function listUnwanted(store: LayoutStore, olderThanMs: number, limits: Limits): Promise<UntaggedRoot[]> {
  const unwanted: UntaggedRoot[] = [];
  for (const entry of store.index.read().entries) {
    const repository = findUntagged(entry);
    const { digest } = entry.descriptor;
    if (repository === undefined || !isOld(store.path, digest, olderThanMs)) continue;
    if (!(await isAttached(store, entry, limits))) unwanted.push({ entry, repository, digest });
  }
  return unwanted;
}

function isOld(layout: string, digest: Digest, olderThanMs: number): boolean {
  const stat = lstatSync(toBlobPath(layout, digest), { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs >= olderThanMs;
}

/** What cannot be read may be attached to something. */
async function isAttached(store: LayoutStore, { descriptor }: NamedDescriptor, limits: Limits): Promise<boolean> {
  try {
    const subject = findSubject((await readManifest(store, descriptor, limits)).parsed);
    return subject !== undefined && findBlobSize(store.path, subject.digest) !== undefined;
  } catch (error) {
    if (isToolkitError(error)) return true;
    throw error;
  }
}
