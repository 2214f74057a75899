import { assertWanted, type Descriptor, type Digest, isToolkitError, type Limits, type NamedDescriptor } from '../core/index.js';
import { findSubject, isIndexType, isManifestType, walkGraph } from '../oci/index.js';
import type { LayoutStore } from './layout.js';
import { findUntagged } from './repository-roots.js';

/**
 * Every digest that roots reach, and what those are attached to; where a registry holds a root for its repository, that one is a root itself for
 * as long as it is wanted. Throws when a manifest is there but damaged.
 */
export async function mark(
  store: LayoutStore,
  roots: readonly NamedDescriptor[],
  limits: Limits,
  signal?: AbortSignal,
): Promise<ReadonlySet<Digest>> {
  const marked: Marked = { reachable: new Set(), walked: new Set() };
  const isWeak = (root: NamedDescriptor) => findUntagged(root) !== undefined;
  const firm = roots.filter((root) => !isWeak(root)).map(({ descriptor }) => descriptor);
  for (let root = firm.pop(); root !== undefined; root = firm.pop()) {
    assertWanted(signal);
    firm.push(...(await markRoot(root, store, limits, marked)));
  }
  for (const { descriptor } of roots.filter(isWeak)) {
    assertWanted(signal);
    await markRoot(descriptor, store, limits, marked);
  }
  return marked.reachable;
}

interface Marked {
  readonly reachable: Set<Digest>;
  readonly walked: Set<Digest>;
}

/** Gives what the manifests on the way are attached to. */
async function markRoot(root: Descriptor, store: LayoutStore, limits: Limits, { reachable, walked }: Marked): Promise<Descriptor[]> {
  reachable.add(root.digest);
  if (walked.has(root.digest)) return [];
  const subjects: Descriptor[] = [];
  for await (const node of walkGraph(root, store, { limits, onUnreadable })) {
    walked.add(node.descriptor.digest);
    reachable.add(node.descriptor.digest);
    for (const { descriptor } of node.leaves) reachable.add(descriptor.digest);
    const subject = findSubject(node.parsed);
    if (subject !== undefined) subjects.push(subject);
  }
  return subjects;
}

/** What is missing names nothing, nor does what was never said to be a manifest (image-layout.md allows such roots). */
function onUnreadable(_label: string, { mediaType }: Descriptor, error: unknown): void {
  if (isToolkitError(error, 'store/blob-missing')) return;
  const isDamaged = isToolkitError(error, 'bytes/digest-mismatch') || isToolkitError(error, 'bytes/size-mismatch');
  if (isToolkitError(error) && !isDamaged && !isManifestType(mediaType) && !isIndexType(mediaType)) return;
  throw error;
}
