import { createError, type Descriptor, isDigest, isJsonObject, type JsonObject, type Limits, parseJson } from '../../core/index.js';
import { type LayerType, parseLayerType } from './spec.js';

/** A descriptor as far as it can be understood; `descriptor` stands only when bytes can be asked for with it. */
export interface DescriptorView {
  /** Where it stands, for findings: `config`, `layers[3]`. */
  readonly where: string;
  readonly json: JsonObject;
  readonly mediaType: string;
  readonly artifactType?: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly descriptor?: Descriptor;
}

export interface LayerView extends DescriptorView {
  readonly index: number;
  /** By its media type, else by its own artifactType. */
  readonly type?: LayerType;
}

/**
 * A manifest read as leniently as possible: drafts put other things into `mediaType`, tools leave out what is required, and the rules want
 * to say so instead of stopping. What is of the wrong type counts as absent; `json` holds everything as it stands.
 */
export interface ManifestView {
  readonly json: JsonObject;
  readonly mediaType?: string;
  readonly artifactType?: string;
  readonly config?: DescriptorView;
  readonly layers: readonly LayerView[];
  readonly annotations: Readonly<Record<string, string>>;
}

/** Bytes → view. Throws `core/bad-json` when they are no JSON, `modelpack/unreadable` when they are no object, `bytes/limit` with too many layers. */
export function parseManifestView(bytes: Uint8Array, where: string, limits: Limits): ManifestView {
  const json = parseJson(bytes, where, { bytes: limits.manifestBytes, depth: limits.jsonDepth });
  if (!isJsonObject(json))
    throw createError('modelpack/unreadable', { message: `Cannot read "${where}" as a manifest: expected a JSON object`, where });
  const layers = Array.isArray(json['layers']) ? (json['layers'] as readonly unknown[]) : [];
  if (layers.length > limits.manifestLayers) {
    throw createError('bytes/limit', {
      message: `Cannot read "${where}": it has ${layers.length} layers and at most ${limits.manifestLayers} are read`,
      where,
    });
  }
  return {
    json,
    ...textField(json, 'mediaType'),
    ...textField(json, 'artifactType'),
    ...(isJsonObject(json['config']) ? { config: toDescriptorView(json['config'], 'config') } : {}),
    layers: layers.map(toLayerView),
    annotations: toAnnotations(json['annotations']),
  };
}

function textField<K extends string>(json: JsonObject, key: K): { readonly [key in K]?: string } {
  const value = json[key];
  return (typeof value === 'string' && value !== '' ? { [key]: value } : {}) as { readonly [key in K]?: string };
}

function toAnnotations(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function toDescriptorView(json: JsonObject, where: string): DescriptorView {
  const annotations = toAnnotations(json['annotations']);
  const { mediaType = '' } = textField(json, 'mediaType');
  const { digest, size } = json;
  return {
    where,
    json,
    mediaType,
    ...textField(json, 'artifactType'),
    annotations,
    ...(isDigest(digest) && isSize(size) ? { descriptor: { mediaType, digest, size, annotations } } : {}),
  };
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function toLayerView(value: unknown, index: number): LayerView {
  const view = toDescriptorView(isJsonObject(value) ? value : {}, `layers[${index}]`);
  const type = parseLayerType(view.mediaType) ?? parseLayerType(view.artifactType ?? '');
  return { ...view, index, ...(type === undefined ? {} : { type }) };
}
