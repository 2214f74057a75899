import { collect } from '../bytes/index.js';
import { type BlobSource, createError, type Descriptor, type Limits } from '../core/index.js';
import { isKindOfType, type ParsedRoot, parseManifest } from './manifest.js';
import { annotationKeys, isIndexType, isManifestType } from './media-types.js';

/** A blob that names nothing further. */
export interface LeafNode {
  readonly descriptor: Descriptor;
  /** For a person: `config`, `layers[1] "weights/model.safetensors"`. */
  readonly label: string;
}

/** A manifest or index, read and verified, with its own leaves; manifests below it are nodes of their own. */
export interface ManifestNode {
  readonly descriptor: Descriptor;
  readonly label: string;
  /** The exact bytes. */
  readonly bytes: Uint8Array;
  readonly parsed: ParsedRoot;
  /** 0 for the root. */
  readonly depth: number;
  /** In order, without those that an earlier node named already. */
  readonly leaves: readonly LeafNode[];
}

export interface WalkOptions {
  readonly limits: Limits;
  readonly order?: 'parents-first' | 'children-first';
  /** Told about a manifest that cannot be read, and the walk goes on without it. Without it the walk throws. */
  readonly onUnreadable?: (label: string, descriptor: Descriptor, error: unknown) => void;
}

/** What a manifest or index is made of, in order. Its `subject` is not: that is a weak link to another package. */
export function children(parsed: ParsedRoot): readonly Descriptor[] {
  return parsed.kind === 'index' ? parsed.index.manifests : [parsed.manifest.config, ...parsed.manifest.layers];
}

export function findSubject(parsed: ParsedRoot): Descriptor | undefined {
  return parsed.kind === 'index' ? parsed.index.subject : parsed.manifest.subject;
}

/** Reads, verifies and parses the manifest or index that a descriptor promises; both have to agree on which of the two it is. */
export async function readManifest(source: BlobSource, descriptor: Descriptor, limits: Limits): Promise<{ bytes: Uint8Array; parsed: ParsedRoot }> {
  if (descriptor.size > limits.manifestBytes) {
    throw createError('bytes/limit', {
      message: `Cannot read the manifest ${descriptor.digest}: expected at most ${limits.manifestBytes} bytes, found ${descriptor.size}`,
      where: descriptor.digest,
    });
  }
  const bytes = await collect(await source.open(descriptor), limits.manifestBytes, `the manifest ${descriptor.digest}`);
  const parsed = parseManifest(bytes, descriptor.digest, limits);
  if (!isKindOfType(parsed.kind, descriptor.mediaType)) {
    throw createError('oci/bad-manifest', {
      message: `Cannot use the manifest ${descriptor.digest}: it was promised as ${descriptor.mediaType}, but its content is that of ${parsed.kind === 'index' ? 'an index' : 'a manifest'}`,
      where: descriptor.digest,
    });
  }
  return { bytes, parsed };
}

/**
 * Every manifest and index from `root` downwards, each once, together with the blobs they name. Cycles end by themselves;
 * `limits.indexDepth` and `limits.graphNodes` bound the rest with `bytes/limit`. Nothing of a leaf is read.
 */
export async function* walkGraph(root: Descriptor, source: BlobSource, options: WalkOptions): AsyncGenerator<ManifestNode, void, undefined> {
  yield* visit({ descriptor: root, label: 'manifest', depth: 0 }, { source, options, seen: new Set() });
}

interface Walk {
  readonly source: BlobSource;
  readonly options: WalkOptions;
  readonly seen: Set<string>;
}

interface Place {
  readonly descriptor: Descriptor;
  readonly label: string;
  readonly depth: number;
}

async function* visit(place: Place, walk: Walk): AsyncGenerator<ManifestNode, void, undefined> {
  const { limits, order, onUnreadable } = walk.options;
  if (place.depth > limits.indexDepth) {
    throw createError('bytes/limit', {
      message: `Cannot read the index ${place.descriptor.digest}: indexes are nested deeper than ${limits.indexDepth} levels`,
      where: place.descriptor.digest,
    });
  }
  if (!isNew(walk, 'manifest', place.descriptor)) return;
  let read: Awaited<ReturnType<typeof readManifest>>;
  try {
    read = await readManifest(walk.source, place.descriptor, limits);
  } catch (error) {
    if (onUnreadable === undefined) throw error;
    onUnreadable(place.label, place.descriptor, error);
    return;
  }
  const { leaves, manifests } = await sortChildren(place, read.parsed, walk);
  const node: ManifestNode = { ...place, ...read, leaves };
  if (order !== 'children-first') yield node;
  for (const manifest of manifests) yield* visit(manifest, walk);
  if (order === 'children-first') yield node;
}

async function sortChildren(place: Place, parsed: ParsedRoot, walk: Walk): Promise<{ leaves: LeafNode[]; manifests: Place[] }> {
  const leaves: LeafNode[] = [];
  const manifests: Place[] = [];
  for (const [index, descriptor] of children(parsed).entries()) {
    const label = labelOf(parsed, index, descriptor);
    if (parsed.kind === 'index' && (await isManifest(descriptor, walk))) manifests.push({ descriptor, label, depth: place.depth + 1 });
    else if (isNew(walk, 'leaf', descriptor)) leaves.push({ descriptor, label });
  }
  return { leaves, manifests };
}

/** The same bytes may be promised with another size or in another role: each promise has to be judged by itself. */
function isNew({ seen, options }: Walk, role: 'manifest' | 'leaf', { digest, size }: Descriptor): boolean {
  const key = `${role} ${digest} ${size}`;
  if (seen.has(key)) return false;
  if (seen.size >= options.limits.graphNodes) {
    throw createError('bytes/limit', {
      message: `Cannot read the package: it consists of more than ${options.limits.graphNodes} blobs`,
      where: digest,
    });
  }
  seen.add(key);
  return true;
}

/** An index may name things of an unknown media type (image-index.md); what they are is seen from their content, where they are small enough. */
async function isManifest(descriptor: Descriptor, { source, options: { limits } }: Walk): Promise<boolean> {
  if (isManifestType(descriptor.mediaType) || isIndexType(descriptor.mediaType)) return true;
  if (!descriptor.mediaType.endsWith('json') || descriptor.size > limits.manifestBytes) return false;
  try {
    await readManifest(source, descriptor, limits);
    return true;
  } catch {
    return false;
  }
}

function labelOf(parsed: ParsedRoot, index: number, descriptor: Descriptor): string {
  if (parsed.kind === 'index') return `manifest ${index + 1} of the index`;
  if (index === 0) return 'config';
  return toLayerLabel(index - 1, descriptor);
}

/** `layers[1] "weights/model.safetensors"`, for a person. */
export function toLayerLabel(index: number, descriptor: Descriptor): string {
  const path = findLayerPath(descriptor);
  return path === undefined ? `layers[${index}]` : `layers[${index}] ${JSON.stringify(path.slice(0, 200))}`;
}

/** The file that a layer says it holds: the two vintages of ModelPack spell it `…filepath`, everybody else `…title`. */
export function findLayerPath({ annotations = {} }: Descriptor): string | undefined {
  return annotations['org.cncf.model.filepath'] ?? annotations['org.cnai.model.filepath'] ?? annotations[annotationKeys.title];
}
