import { collect } from '../bytes/index.js';
import { createError, type Descriptor, type Digest, isToolkitError, type NamedDescriptor, type ReferrerSource } from '../core/index.js';
import { findSubject, isIndexType, isManifestType, parseManifest } from '../oci/index.js';
import type { OpsContext } from './context.js';
import type { Shelf } from './source.js';

/** Everything that is attached to these packages, and to what is attached to them, each once. */
export async function listReferrers(roots: readonly NamedDescriptor[], shelf: Shelf, context: OpsContext): Promise<readonly Descriptor[]> {
  const source = 'listReferrers' in shelf ? (shelf as Shelf & ReferrerSource) : await scanShelf(shelf, context);
  const found = new Map<Digest, Descriptor>();
  let level = roots.map(({ descriptor }) => descriptor.digest);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > context.limits.indexDepth || found.size > context.limits.manifestLayers) {
      throw createError('bytes/limit', {
        message: `Cannot follow what is attached to ${roots[0]?.descriptor.digest ?? 'nothing'}: it is too much or too deep`,
      });
    }
    const attached = (await Promise.all(level.map((digest) => source.listReferrers(digest)))).flat();
    const fresh = attached.filter(({ digest }) => !found.has(digest) && !roots.some(({ descriptor }) => descriptor.digest === digest));
    for (const descriptor of fresh) found.set(descriptor.digest, descriptor);
    level = [...new Set(fresh.map(({ digest }) => digest))];
  }
  return [...found.values()];
}

/** In a layout or archive what is attached is a root as well. One that cannot be read is attached to nothing. */
async function scanShelf(shelf: Shelf, { limits }: OpsContext): Promise<ReferrerSource> {
  const bySubject = new Map<Digest, Descriptor[]>();
  for (const { descriptor } of await shelf.list()) {
    if (!isManifestType(descriptor.mediaType) && !isIndexType(descriptor.mediaType)) continue;
    const subject = await readSubject(descriptor, shelf, limits).catch(noneIfBroken);
    if (subject !== undefined) bySubject.set(subject, [...(bySubject.get(subject) ?? []), descriptor]);
  }
  return {
    listReferrers: async (subject, artifactType) =>
      (bySubject.get(subject) ?? []).filter((each) => artifactType === undefined || each.artifactType === artifactType),
  };
}

async function readSubject(descriptor: Descriptor, shelf: Shelf, limits: OpsContext['limits']): Promise<Digest | undefined> {
  const bytes = await collect(await shelf.open(descriptor), limits.manifestBytes, descriptor.digest);
  return findSubject(parseManifest(bytes, descriptor.digest, limits))?.digest;
}

function noneIfBroken(error: unknown): undefined {
  if (!isToolkitError(error)) throw error;
}
