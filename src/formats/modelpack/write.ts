import { findTwins, judgePath, mapConcurrent, openPart } from '../../bytes/index.js';
import {
  type BlobContent,
  type BlobSink,
  createError,
  type Descriptor,
  type Digest,
  type Finding,
  type ModelPackage,
  type OciPackageSink,
  type Part,
  type PartContent,
  type StoredBlob,
  type TarMember,
  type WriteOptions,
  type Written,
} from '../../core/index.js';
import { toJsonBytes } from '../../oci/index.js';
import { type LayerEncodings, type PlannedLayer, planLayers } from './plan-layers.js';
import { manifestArtifactType, ociImageConfigType, ociManifestType, titleKey, type Vintage } from './spec.js';
import { toDraftAnnotations, toImageConfig, toModelConfig } from './write-config.js';
import { portableMode, toLayerDescriptor, toManifest } from './write-manifest.js';

export interface ModelpackWriteOptions extends WriteOptions {
  readonly vintage: Vintage;
  readonly layers: LayerEncodings;
  /** Seconds since 1970, the same for every file: SOURCE_DATE_EPOCH, else 0. */
  readonly mtime: number;
  /** `os/architecture[/variant]` of what has an image config: the draft and a hybrid. */
  readonly platform: string;
  /** Layers worked on at a time. */
  readonly concurrency: number;
}

/**
 * Package → ModelPack. The same parts give the same digest on any machine, at any time, in any order of the files. Nothing is read before
 * the paths are judged and the manifest is known to fit; the manifest is put last and the caller names it.
 * Throws `modelpack/cannot-write`, `bytes/unsafe-path`, `oci/too-large`, and what the sink throws.
 */
export async function writeModelpack(pkg: ModelPackage, sink: OciPackageSink, options: ModelpackWriteOptions): Promise<Written> {
  const findings: Finding[] = [];
  const { vintage, mtime } = options;
  assertPaths(pkg.parts, options);
  const layers = planLayers(pkg.parts, vintage, options.layers, findings);
  const annotations = vintage === 'draft-2024' ? toDraftAnnotations(pkg) : homepageOf(pkg);
  const expected = layers.map((layer) => toLayerDescriptor(layer, vintage, unknownBlob, mtime));
  assertManifestFits(toManifest(vintage, unknownBlob, expected, annotations), layers.length, options);
  const { stored, descriptors, diffIds } = await putPlannedLayers(layers, sink.blobs, options);
  const config = await putJson(
    sink.blobs,
    vintage === 'draft-2024' ? toImageConfig(pkg.identity, diffIds, options.platform) : toModelConfig(pkg, diffIds),
  );
  const manifest = await putJson(sink.blobs, toManifest(vintage, config, descriptors, annotations), ociManifestType);
  const root = { mediaType: ociManifestType, digest: manifest.digest, size: manifest.size, artifactType: manifestArtifactType(vintage) };
  return { root, lost: lossesOf(pkg), findings, bytes: totalsOf([...stored, config, manifest]) };
}

/**
 * The image-shaped sibling for runtimes that mount images only: image config, tar layers with the files at the root, and the ModelPack keys
 * as annotations. It stores the weights a second time, as tar.
 */
export async function writeHybridImage(pkg: ModelPackage, sink: OciPackageSink, options: ModelpackWriteOptions): Promise<Written> {
  const imageOptions = { ...options, vintage: 'draft-2024' as const, layers: { byRole: {} } };
  assertPaths(pkg.parts, imageOptions);
  const layers = planLayers(pkg.parts, 'draft-2024', imageOptions.layers, []);
  const describe = (layer: PlannedLayer, stored: Pick<Descriptor, 'digest' | 'size'>): Descriptor => ({
    mediaType: 'application/vnd.oci.image.layer.v1.tar',
    digest: stored.digest,
    size: stored.size,
    annotations: withoutTitle(toLayerDescriptor(layer, 'cncf', stored, options.mtime).annotations),
  });
  const imageManifest = (config: Pick<Descriptor, 'digest' | 'size'>, described: readonly Descriptor[]) => ({
    schemaVersion: 2,
    mediaType: ociManifestType,
    config: { mediaType: ociImageConfigType, digest: config.digest, size: config.size },
    layers: described,
  });
  assertManifestFits(
    imageManifest(
      unknownBlob,
      layers.map((layer) => describe(layer, unknownBlob)),
    ),
    layers.length,
    options,
  );
  const stored = await putLayers(layers, sink.blobs, imageOptions);
  const config = await putJson(
    sink.blobs,
    toImageConfig(
      pkg.identity,
      stored.map((blob) => blob.digest),
      options.platform,
    ),
  );
  const manifest = await putJson(
    sink.blobs,
    imageManifest(
      config,
      layers.map((layer, at) => describe(layer, stored[at] as StoredBlob)),
    ),
    ociManifestType,
  );
  return {
    root: { mediaType: ociManifestType, digest: manifest.digest, size: manifest.size },
    lost: [],
    findings: [],
    bytes: totalsOf([...stored, config, manifest]),
  };
}

function withoutTitle(annotations: Descriptor['annotations']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => key !== titleKey));
}

/** What a package may hold together: safe paths, each once, no two that fold to one name. Throws `bytes/unsafe-path`, `modelpack/cannot-write`. */
export function assertPaths(parts: readonly Part[], options: Pick<ModelpackWriteOptions, 'vintage' | 'limits'>): void {
  if (parts.length === 0)
    throw createError('modelpack/cannot-write', { message: 'Cannot write a ModelPack without files: modelfs.diffIds needs at least one layer' });
  for (const { path } of parts) {
    const reason = judgePath(path, options.limits) ?? whiteoutReason(path, options.vintage);
    if (reason !== undefined) throw createError('bytes/unsafe-path', { message: `Cannot pack ${JSON.stringify(path)}: ${reason}`, where: path });
  }
  const twin = findTwins(parts.map((part) => part.path))[0];
  if (twin !== undefined) {
    throw createError('bytes/unsafe-path', {
      message: `Cannot pack ${JSON.stringify(twin.first)} beside ${JSON.stringify(twin.second)}: ${twinReason[twin.kind]}`,
      where: twin.second,
      hint: 'Rename one of the two, or leave one out with [files] ignore',
    });
  }
}

const twinReason = {
  duplicate: 'the path stands twice',
  'file-and-folder': 'one is a file where the other needs a folder',
  case: 'the two names are one on a file system that ignores case',
  unicode: 'the two names are one on a file system that ignores the Unicode form',
} as const;

/** In stacked layers such names delete files. (image-spec layer.md, Whiteouts) */
function whiteoutReason(path: string, vintage: Vintage): string | undefined {
  const isWhiteout = vintage === 'draft-2024' && path.split('/').some((name) => name.startsWith('.wh.'));
  return isWhiteout ? 'names that begin with .wh. mean deletion in image layers' : undefined;
}

const unknownBlob = { digest: `sha256:${'0'.repeat(64)}`, size: 999_999_999_999 } as const satisfies Pick<Descriptor, 'digest' | 'size'>;

/** Said before the work: a manifest that no registry is sure to take is of no use. */
export function assertManifestFits(manifest: object, layers: number, options: Pick<ModelpackWriteOptions, 'limits'>): void {
  const size = toJsonBytes(manifest).byteLength;
  if (size <= options.limits.writtenManifestBytes) return;
  throw createError('oci/too-large', {
    message: `Cannot write ${layers} layers into one manifest: it would be about ${size} bytes long and registries are sure to take ${options.limits.writtenManifestBytes}`,
    hint: 'Leave --layers out, so that small files share a tar layer',
  });
}

export interface PutLayers {
  readonly stored: readonly StoredBlob[];
  readonly descriptors: readonly Descriptor[];
  readonly diffIds: readonly Digest[];
}

/** Writes the layers, several at a time, and says how a manifest and a config name them. */
export async function putPlannedLayers(layers: readonly PlannedLayer[], sink: BlobSink, options: ModelpackWriteOptions): Promise<PutLayers> {
  const stored = await putLayers(layers, sink, options);
  const named = layers.map((layer, at) => ({ layer, blob: stored[at] as StoredBlob }));
  return {
    stored,
    descriptors: named.map(({ layer, blob }) => toLayerDescriptor(layer, options.vintage, blob, options.mtime)),
    diffIds: named.map(({ layer, blob }) => diffIdOf(blob, layer)),
  };
}

async function putLayers(layers: readonly PlannedLayer[], sink: BlobSink, options: ModelpackWriteOptions): Promise<StoredBlob[]> {
  return mapConcurrent(layers, options.concurrency, async (layer) => {
    const size = layer.parts.reduce((sum, part) => sum + part.size, 0);
    const progress = options.progress.start('pack', layer.filepath, size);
    try {
      const stored = await sink.put(contentOf(layer, options.mtime), { progress, signal: options.signal });
      progress.done(stored.fresh ? 'done' : 'skipped');
      return stored;
    } catch (error) {
      progress.done('failed');
      throw error;
    }
  });
}

function contentOf(layer: PlannedLayer, mtime: number): BlobContent {
  if (layer.encoding === 'raw') return toBlobContent((layer.parts[0] as Part).content, (layer.parts[0] as Part).size);
  const compression = layer.encoding === 'tar' ? 'none' : layer.encoding === 'tar+gzip' ? 'gzip' : 'zstd';
  return { kind: 'tar', compression, members: layer.parts.map((part) => toMember(part, mtime)) };
}

function toMember(part: Part, mtime: number): TarMember {
  const content = toBlobContent(part.content, part.size);
  return {
    name: part.path,
    mode: portableMode(part),
    mtime,
    content: content.kind === 'file' ? content : { kind: 'stream', size: part.size, open: () => openPart(part.content) },
  };
}

function toBlobContent(content: PartContent, size: number): BlobContent {
  return content.kind === 'file' ? content : { kind: 'stream', size, open: () => openPart(content) };
}

function diffIdOf(stored: StoredBlob, layer: PlannedLayer): Digest {
  if (layer.encoding === 'raw' || layer.encoding === 'tar') return stored.digest;
  if (stored.diffId === undefined) throw createError('core/bug', { message: `Cannot happen: no diffId of the compressed layer "${layer.filepath}"` });
  return stored.diffId;
}

async function putJson(sink: BlobSink, json: object, mediaType?: string): Promise<StoredBlob> {
  return sink.put({ kind: 'bytes', bytes: toJsonBytes(json) }, { mediaType });
}

/** The one field of identity that the model config has no place for. */
function homepageOf(pkg: ModelPackage): Record<string, string> {
  return pkg.identity.homepage === undefined ? {} : { 'org.opencontainers.image.url': pkg.identity.homepage };
}

function totalsOf(blobs: readonly StoredBlob[]): Written['bytes'] {
  const sum = (counted: readonly StoredBlob[]) => counted.reduce((total, blob) => total + blob.size, 0);
  const total = sum(blobs);
  const sent = sum(blobs.filter((blob) => blob.fresh));
  return { total, sent, skipped: total - sent };
}

/** What a ModelPack has no place for. */
function lossesOf(pkg: ModelPackage): Finding[] {
  const absent: readonly [string, boolean][] = [
    ['inputs and outputs', pkg.io.inputs.length + pkg.io.outputs.length > 0],
    ['self tests', pkg.io.selfTests > 0],
    ['examples', pkg.io.examples > 0],
    ['the run section', Object.keys(pkg.run).length > 0],
  ];
  return absent
    .filter(([, present]) => present)
    .map(([what]) => ({ level: 'note', code: 'modelpack/no-place', message: `A ModelPack has no place for ${what}; only the files travel` }));
}
