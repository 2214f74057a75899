import { collect } from '../../bytes/index.js';
import {
  type BlobSink,
  createError,
  type Descriptor,
  type Finding,
  isJsonObject,
  type JsonObject,
  type ModelPackage,
  type OciSource,
  type Part,
  parseJson,
  type StoredBlob,
} from '../../core/index.js';
import { toJsonBytes } from '../../oci/index.js';
import { planLayers } from './plan-layers.js';
import { listPartsByLayer, openModelpack } from './read.js';
import { ociManifestType, type Vintage } from './spec.js';
import { assertManifestFits, assertPaths, type ModelpackWriteOptions, putPlannedLayers } from './write.js';
import { toDraftAnnotations, toModelConfig } from './write-config.js';

export interface ModelpackEdits {
  /** The package with its fields as they shall be. */
  readonly described: Pick<ModelPackage, 'identity' | 'weights' | 'capabilities'>;
  /** Files that come in; one of the same path is replaced. */
  readonly add: readonly Part[];
  /** Paths that go. */
  readonly remove: readonly string[];
}

export interface Edited {
  readonly root: Descriptor;
  /** Layers that stayed as they are stored; whoever calls sees to it that the target has them. */
  readonly kept: readonly Descriptor[];
  readonly written: readonly StoredBlob[];
  readonly findings: readonly Finding[];
}

interface KeptLayer {
  readonly json: JsonObject;
  readonly diffId: string;
}

/**
 * A changed copy: layers that nothing is said about keep their stored blobs, unread; a tar that loses one of several files is framed anew
 * from the rest. Config and manifest are written anew. Throws `ops/path-not-found` for a path that is not there.
 */
export async function editModelpack(
  source: OciSource,
  edits: ModelpackEdits,
  sink: BlobSink,
  options: Omit<ModelpackWriteOptions, 'vintage'>,
): Promise<Edited> {
  const { view, vintage } = openModelpack(source, options);
  const findings: Finding[] = [];
  const config = await readJson(source, view.config?.descriptor, options);
  const diffIds = diffIdsOf(config);
  const gone = new Set([...edits.remove, ...edits.add.map((part) => part.path)]);
  const byLayer = await listPartsByLayer(source, options);
  assertPresent(edits.remove, byLayer);
  assertPaths([...byLayer.flat().filter((part) => !gone.has(part.path)), ...edits.add], { ...options, vintage });
  const kept: KeptLayer[] = [];
  const rewritten: Part[] = [];
  for (const [at, layer] of view.layers.entries()) {
    const parts = byLayer[at] ?? [];
    if (parts.some((part) => gone.has(part.path))) rewritten.push(...parts.filter((part) => !gone.has(part.path)));
    else kept.push({ json: layer.json, diffId: diffIds[at] ?? String(layer.json['digest']) });
  }
  const planned = planLayers([...rewritten, ...edits.add], vintage, options.layers, findings);
  const { stored, descriptors, diffIds: newIds } = await putPlannedLayers(planned, sink, { ...options, vintage });
  const layers = [...kept.map((layer) => layer.json), ...descriptors];
  const newConfig = await putConfig(vintage, edits, config, [...kept.map((layer) => layer.diffId), ...newIds], sink);
  const json = toEditedManifest(vintage, edits, view.json, newConfig, layers);
  assertManifestFits(json, layers.length, options);
  const manifest = await sink.put({ kind: 'bytes', bytes: toJsonBytes(json) }, { mediaType: ociManifestType });
  return {
    root: {
      mediaType: ociManifestType,
      digest: manifest.digest,
      size: manifest.size,
      ...(view.artifactType === undefined ? {} : { artifactType: view.artifactType }),
    },
    kept: kept.flatMap((each) => view.layers.find((layer) => layer.json === each.json)?.descriptor ?? []),
    written: [...stored, newConfig, manifest],
    findings,
  };
}

function assertPresent(paths: readonly string[], byLayer: readonly (readonly Part[])[]): void {
  const present = new Set(byLayer.flat().map((part) => part.path));
  const missing = paths.find((path) => !present.has(path));
  if (missing !== undefined)
    throw createError('ops/path-not-found', {
      message: `Cannot remove ${JSON.stringify(missing)}: the package has no such file`,
      hint: 'See `modelport ls`',
      where: missing,
    });
}

async function readJson(
  source: OciSource,
  descriptor: Descriptor | undefined,
  { limits }: Pick<ModelpackWriteOptions, 'limits'>,
): Promise<JsonObject> {
  if (descriptor === undefined) return {};
  const bytes = await collect(await source.blobs.open(descriptor), limits.configBytes, 'the config');
  const json = parseJson(bytes, 'config blob', { bytes: limits.configBytes, depth: limits.jsonDepth });
  return isJsonObject(json) ? json : {};
}

/** Of a model config or of an image config. */
function diffIdsOf(config: JsonObject): readonly string[] {
  for (const [section, names] of [
    ['modelfs', ['diffIds', 'diff_ids']],
    ['rootfs', ['diff_ids']],
  ] as const) {
    const holder = config[section];
    const list = isJsonObject(holder) ? names.map((name) => holder[name]).find(Array.isArray) : undefined;
    if (list !== undefined) return list.map(String);
  }
  return [];
}

async function putConfig(
  vintage: Vintage,
  edits: ModelpackEdits,
  config: JsonObject,
  diffIds: readonly string[],
  sink: BlobSink,
): Promise<StoredBlob> {
  const ids = diffIds as readonly Descriptor['digest'][];
  const json = vintage === 'draft-2024' ? { ...config, rootfs: { type: 'layers', diff_ids: ids } } : toModelConfig(edits.described, ids);
  return sink.put({ kind: 'bytes', bytes: toJsonBytes(json) });
}

function toEditedManifest(vintage: Vintage, edits: ModelpackEdits, json: JsonObject, config: StoredBlob, layers: readonly unknown[]): JsonObject {
  const old = isJsonObject(json['annotations']) ? json['annotations'] : {};
  const annotations = vintage === 'draft-2024' ? { ...withoutDraftKeys(old), ...toDraftAnnotations(edits.described) } : old;
  const oldConfig = isJsonObject(json['config']) ? json['config'] : {};
  return {
    ...json,
    config: { ...oldConfig, digest: config.digest, size: config.size },
    layers,
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}

function withoutDraftKeys(annotations: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith('org.cnai.model.')));
}
