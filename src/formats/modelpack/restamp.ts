import { collect } from '../../bytes/index.js';
import {
  type BlobSink,
  createError,
  type Descriptor,
  type Finding,
  isJsonObject,
  type JsonObject,
  type Limits,
  type OciSource,
  parseJson,
} from '../../core/index.js';
import { toJsonBytes } from '../../oci/index.js';
import { identify } from './detect.js';
import { type LayerView, type ManifestView, parseManifestView } from './manifest-view.js';
import { describeConfig } from './read-config.js';
import { annotationKeys, configMediaType, type Family, formerMetadataKey, manifestArtifactType, ociManifestType, toLayerType } from './spec.js';
import { toModelConfig } from './write-config.js';

/** Can the package change its names alone? Only between `cncf` and `cnai`: the draft's layers are image layers. */
export function canRestamp(source: OciSource, to: string, limits: Limits): to is Family {
  const from = identify(parseManifestView(source.bytes, source.location, limits))?.vintage;
  return (from === 'cncf' || from === 'cnai') && (to === 'cncf' || to === 'cnai');
}

/** The blobs that a package's layers name, in their order. Throws `modelpack/unreadable` for a layer without a usable descriptor. */
export function listLayers(source: OciSource, limits: Limits): Descriptor[] {
  const view = parseManifestView(source.bytes, source.location, limits);
  return view.layers.map((layer) => {
    if (layer.descriptor === undefined)
      throw createError('modelpack/unreadable', { message: `Cannot use ${layer.where}: its digest or size is not valid`, where: layer.where });
    return layer.descriptor;
  });
}

/**
 * The same layers under the names of the other vintage: new config and manifest, no layer read or sent. A config that needs no renaming
 * keeps its bytes. Whoever calls sees to it that the target has the layers first (`listLayers`). Raw layers of `cnai` get the ending `.raw`
 * that the tools of that time read; `judgeRestamp` says so.
 */
export async function restamp(source: OciSource, to: Family, sink: BlobSink, limits: Limits): Promise<Descriptor> {
  const view = parseManifestView(source.bytes, source.location, limits);
  const layers = view.layers.map((layer) => restampLayer(layer, to));
  const config = await putConfig(source, view, sink, limits);
  const manifest = toJsonBytes({
    ...view.json,
    mediaType: ociManifestType,
    artifactType: manifestArtifactType(to),
    config: { ...view.config?.json, mediaType: configMediaType(to), digest: config.digest, size: config.size },
    layers,
  });
  const stored = await sink.put({ kind: 'bytes', bytes: manifest }, { mediaType: ociManifestType });
  return { mediaType: ociManifestType, digest: stored.digest, size: stored.size, artifactType: manifestArtifactType(to) };
}

function restampLayer(layer: LayerView, to: Family): JsonObject {
  const { type } = layer;
  if (type?.kind === undefined) return layer.json;
  const mediaType = keepsRaw(layer, to) ? `application/vnd.cnai.model.${type.kind}.v1.raw` : toLayerType(to, type.kind, type.encoding);
  const annotations = layer.json['annotations'];
  return { ...layer.json, mediaType, ...(isJsonObject(annotations) ? { annotations: renameKeys(annotations, to) } : {}) };
}

function keepsRaw({ type }: LayerView, to: Family): boolean {
  return to === 'cnai' && type?.encoding === 'raw';
}

/** What a restamp leaves odd, known before anything is written. */
export function judgeRestamp(source: OciSource, to: Family, limits: Limits): Finding[] {
  const raw = parseManifestView(source.bytes, source.location, limits).layers.filter((layer) => keepsRaw(layer, to));
  if (raw.length === 0) return [];
  return [
    {
      level: 'warning',
      code: 'modelpack/raw-in-cnai',
      message: `${raw.length} raw ${raw.length === 1 ? 'layer keeps' : 'layers keep'} a type that ends in .raw, as the tools of that time write and read it; the cnai specification knows the bare weight.v1 alone`,
      where: raw.length === 1 ? (raw[0] as LayerView).where : `${(raw[0] as LayerView).where} to ${(raw.at(-1) as LayerView).where}`,
      hint: 'Pack from the folder with --vintage cnai for tar layers',
    },
  ];
}

function renameKeys(annotations: JsonObject, to: Family): JsonObject {
  const from = annotationKeys[to === 'cncf' ? 'cnai' : 'cncf'];
  const names = new Map<string, string>([
    [from.filepath, annotationKeys[to].filepath],
    [from.metadata, annotationKeys[to].metadata],
    [formerMetadataKey, annotationKeys[to].metadata],
    [from.untested, annotationKeys[to].untested],
  ]);
  return Object.fromEntries(Object.entries(annotations).map(([key, value]) => [names.get(key) ?? key, value]));
}

async function putConfig(
  source: OciSource,
  view: ManifestView,
  sink: BlobSink,
  limits: Limits,
): Promise<{ digest: Descriptor['digest']; size: number }> {
  const descriptor = view.config?.descriptor;
  if (descriptor === undefined)
    throw createError('modelpack/unreadable', { message: `Cannot restamp "${source.location}": it has no usable config`, where: 'config' });
  const bytes = await collect(await source.blobs.open(descriptor), limits.configBytes, 'the config');
  const json = parseJson(bytes, 'config blob', { bytes: limits.configBytes, depth: limits.jsonDepth });
  const described = isJsonObject(json) ? describeConfig(json) : undefined;
  if (described === undefined || described.findings.length === 0) return sink.put({ kind: 'bytes', bytes });
  return sink.put({ kind: 'bytes', bytes: toJsonBytes(toModelConfig(described, described.diffIds as Descriptor['digest'][])) });
}
