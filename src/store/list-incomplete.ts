import { type Descriptor, type Digest, isToolkitError, type Limits, type NamedDescriptor } from '../core/index.js';
import { walkGraph } from '../oci/index.js';
import { hasBlobFile } from './blob-file.js';
import type { LayoutStore } from './layout.js';
import { findUntagged } from './repository-roots.js';

export interface MissingBlob {
  readonly digest: Digest;
  /** One of the names that reach it; of a root without one its repository and digest. */
  readonly neededBy: string;
}

export interface Incomplete {
  readonly missing: readonly MissingBlob[];
  /** All names that reach a bad or missing blob. */
  readonly affected: readonly string[];
}

export interface Damage {
  /** Blobs that count as not there. */
  readonly bad: ReadonlySet<Digest>;
  /** False: only bad blobs are looked for, as others may be missing. */
  readonly isWhole: boolean;
}

/** Which packages of a store are not whole. Nothing of a blob is read but manifests. */
export async function listIncomplete(store: LayoutStore, damage: Damage, limits: Limits): Promise<Incomplete> {
  const known = new Map<string, readonly Digest[]>();
  const neededBy = new Map<Digest, string>();
  const affected = new Set<string>();
  for (const root of await store.list()) {
    const key = `${root.descriptor.digest} ${root.descriptor.size} ${root.descriptor.mediaType}`;
    const lost = known.get(key) ?? (await listLost(root.descriptor, { ...damage, store, limits }));
    known.set(key, lost);
    const label = toLabel(root);
    if (lost.length > 0) affected.add(label);
    for (const digest of lost) if (!damage.bad.has(digest) && !neededBy.has(digest)) neededBy.set(digest, label);
  }
  return { missing: [...neededBy].map(([digest, label]) => ({ digest, neededBy: label })), affected: [...affected] };
}

function toLabel(root: NamedDescriptor): string {
  const repository = findUntagged(root);
  const { digest } = root.descriptor;
  return root.name ?? (repository === undefined ? digest : `${repository}@${digest}`);
}

interface Search extends Damage {
  readonly store: LayoutStore;
  readonly limits: Limits;
}

/** What a package names and is not there, or bad. */
async function listLost(root: Descriptor, { store, bad, isWhole, limits }: Search): Promise<Digest[]> {
  const lost = new Set<Digest>();
  const isLost = (descriptor: Descriptor) => bad.has(descriptor.digest) || (isWhole && !hasBlobFile(store.path, descriptor));
  const onUnreadable = (_label: string, descriptor: Descriptor, error: unknown) => {
    // One that is whole and yet no manifest is for `verify` to judge.
    if (!isToolkitError(error) || error.code === 'core/bug') throw error;
    if (isLost(descriptor) || isToolkitError(error, 'bytes/digest-mismatch')) lost.add(descriptor.digest);
  };
  try {
    for await (const { leaves } of walkGraph(root, store, { limits, onUnreadable })) {
      for (const { descriptor } of leaves) if (isLost(descriptor)) lost.add(descriptor.digest);
    }
  } catch (error) {
    // A graph without measure is for `verify`, too.
    if (!isToolkitError(error, 'bytes/limit')) throw error;
  }
  return [...lost];
}
