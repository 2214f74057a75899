import type { Descriptor, Digest } from '../../core/index.js';
import { children, type ParsedRoot } from '../../oci/index.js';
import { toFacts } from './manifest-shelf.js';
import { Refusal } from './refusal.js';
import type { RegistryRoom } from './room.js';

/**
 * Everything that it names is in the repository, but for its subject and for layers that may not be given away; and it stays there until the manifest
 * names it, whatever else is deleted meanwhile.
 */
export async function assertComplete(room: RegistryRoom, repository: string, parsed: ParsedRoot): Promise<void> {
  const foreign = listForeign(parsed);
  const missing: Digest[] = [];
  for (const [position, descriptor] of children(parsed).entries()) {
    const found = await claimChild(room, repository, descriptor);
    if (found === undefined && !foreign.has(position)) missing.push(descriptor.digest);
    if (found !== undefined && found.size !== descriptor.size) {
      throw new Refusal(400, 'MANIFEST_INVALID', `The blob ${found.digest} has ${found.size} bytes, the manifest says ${descriptor.size}`);
    }
  }
  if (missing.length === 0) return;
  throw new Refusal(
    400,
    'MANIFEST_BLOB_UNKNOWN',
    `The manifest names ${missing.length === 1 ? 'a blob' : 'blobs'} that the repository does not have`,
    {
      detail: missing.slice(0, 100).map((digest) => ({ digest })),
    },
  );
}

/** Nothing is taken that a collector could not walk through later, as it would stop at it for ever. (`indexDepth`, `graphNodes`) */
export async function assertMeasured({ shelf, limits }: RegistryRoom, parsed: ParsedRoot): Promise<void> {
  const seen = new Set<Digest>();
  let nodes = children(parsed).length;
  let level: readonly Descriptor[] = toFacts(parsed).manifests;
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.indexDepth) throw new Refusal(400, 'MANIFEST_INVALID', `Indexes are nested at most ${limits.indexDepth} levels deep here`);
    const below: Descriptor[] = [];
    for (const descriptor of level) {
      if (seen.has(descriptor.digest)) continue;
      seen.add(descriptor.digest);
      const facts = await shelf.findFacts(descriptor);
      nodes += (facts?.manifests.length ?? 0) + (facts?.blobs.length ?? 0);
      below.push(...(facts?.manifests ?? []));
    }
    if (nodes > limits.graphNodes)
      throw new Refusal(400, 'MANIFEST_INVALID', `A package names at most ${limits.graphNodes} blobs here, in all its manifests`);
    level = below;
  }
}

async function claimChild({ store, views }: RegistryRoom, repository: string, { digest }: Descriptor): Promise<Descriptor | undefined> {
  if (!store.hasClaim(repository, digest)) {
    const view = await views.of(repository);
    if (!view.blobs.has(digest) && !view.manifests.has(digest)) return undefined;
    await store.claim(repository, digest);
  }
  return store.touch(digest) ? store.findBlob(digest) : undefined;
}

/** Positions among the children. (OCI image-spec, layer.md, Non-Distributable Layers) */
function listForeign({ kind, json }: ParsedRoot): ReadonlySet<number> {
  const layers = kind === 'manifest' && Array.isArray(json['layers']) ? (json['layers'] as readonly { mediaType?: unknown; urls?: unknown }[]) : [];
  const isForeign = ({ mediaType, urls }: { mediaType?: unknown; urls?: unknown }) =>
    /[.]nondistributable[.]|[.]foreign[.]/.test(String(mediaType)) || (Array.isArray(urls) && urls.length > 0);
  // The config is the first child.
  return new Set(layers.flatMap((layer, position) => (isForeign(layer) ? [position + 1] : [])));
}
