import { type Descriptor, type Digest, isToolkitError, type Limits } from '../core/index.js';
import { findSubject, isIndexType, isManifestType, walkGraph } from '../oci/index.js';
import type { LayoutStore } from './layout.js';

/** Every digest that the roots of the index reach, and what they are attached to. Throws when a manifest is there but damaged. */
export async function mark(store: LayoutStore, limits: Limits): Promise<ReadonlySet<Digest>> {
  const reachable = new Set<Digest>();
  const walked = new Set<Digest>();
  const roots: Descriptor[] = store.index.read().entries.map((entry) => entry.descriptor);
  for (let root = roots.pop(); root !== undefined; root = roots.pop()) {
    reachable.add(root.digest);
    if (walked.has(root.digest)) continue;
    for await (const node of walkGraph(root, store, { limits, onUnreadable })) {
      walked.add(node.descriptor.digest);
      reachable.add(node.descriptor.digest);
      for (const { descriptor } of node.leaves) reachable.add(descriptor.digest);
      const subject = findSubject(node.parsed);
      if (subject !== undefined) roots.push(subject);
    }
  }
  return reachable;
}

/** What is missing names nothing, nor does what was never said to be a manifest (image-layout.md allows such roots). */
function onUnreadable(_label: string, { mediaType }: Descriptor, error: unknown): void {
  if (isToolkitError(error, 'store/blob-missing')) return;
  const isDamaged = isToolkitError(error, 'bytes/digest-mismatch') || isToolkitError(error, 'bytes/size-mismatch');
  if (isToolkitError(error) && !isDamaged && !isManifestType(mediaType) && !isIndexType(mediaType)) return;
  throw error;
}
