import { createError, type Descriptor, isJsonObject, type JsonObject, type Limits, parseJson } from '../core/index.js';
import { badManifest, parseAnnotations, parseDescriptor, parseText } from './descriptor.js';
import { isIndexType, isManifestType } from './media-types.js';

/** An image manifest, which is also what every artifact is. (OCI image-spec, manifest.md) */
export interface Manifest {
  /** Absent when it is missing or no number; only 2 is legal. */
  readonly schemaVersion?: number;
  readonly mediaType?: string;
  readonly artifactType?: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly subject?: Descriptor;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A list of manifests. (OCI image-spec, image-index.md) */
export interface Index {
  readonly schemaVersion?: number;
  readonly mediaType?: string;
  readonly artifactType?: string;
  readonly manifests: readonly Descriptor[];
  readonly subject?: Descriptor;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** `json` is the whole document as it was written, for what the typed view leaves out. */
export type ParsedRoot =
  | { readonly kind: 'manifest'; readonly manifest: Manifest; readonly json: JsonObject }
  | { readonly kind: 'index'; readonly index: Index; readonly json: JsonObject };

/**
 * Bytes → manifest or index, which of the two is decided by content. Strict where security rests on it (repeated keys, digests, sizes,
 * `manifests` beside `layers`, a media type that contradicts the content, number of layers), tolerant of what only looks odd (a missing
 * or unknown media type, a missing schema version, null for an empty list). Throws `oci/bad-manifest` naming the JSON field, or `core/bad-json`.
 */
export function parseManifest(bytes: Uint8Array, where: string, limits: Limits): ParsedRoot {
  const json = parseJson(bytes, where, { bytes: limits.manifestBytes, depth: limits.jsonDepth });
  if (!isJsonObject(json)) throw badManifest(where, 'document', 'an object', json);
  const kind = decideKind(json, where);
  const shared = parseShared(json, where);
  if (kind === 'index') return { kind, index: { ...shared, manifests: parseList(json, 'manifests', where, limits) }, json };
  const config = parseDescriptor(json['config'], 'config', where);
  return { kind, manifest: { ...shared, config, layers: parseList(json, 'layers', where, limits) }, json };
}

/** Two readers must never see different things in one document. (CVE-2021-41190) */
function decideKind(json: JsonObject, where: string): ParsedRoot['kind'] {
  const isIndex = 'manifests' in json;
  const isManifest = 'layers' in json || 'config' in json;
  if (isIndex && isManifest) throw ambiguous(where, 'it holds "manifests" beside "layers" or "config"');
  if (!isIndex && !('layers' in json)) throw refuse(where, explainOther(json));
  const kind = isIndex ? 'index' : 'manifest';
  const mediaType = json['mediaType'];
  if (typeof mediaType === 'string' && !isKindOfType(kind, mediaType))
    throw ambiguous(where, `its mediaType is ${mediaType}, but its content is that of ${kind === 'index' ? 'an index' : 'a manifest'}`);
  return kind;
}

/** False only when the media type is known to mean the other kind. */
export function isKindOfType(kind: ParsedRoot['kind'], mediaType: string): boolean {
  return kind === 'index' ? !isManifestType(mediaType) : !isIndexType(mediaType);
}

function explainOther(json: JsonObject): string {
  if ('fsLayers' in json) return 'it is a Docker schema 1 manifest, which carries no usable digests';
  if ('blobs' in json) return 'it is an artifact manifest of a withdrawn draft of OCI 1.1';
  return 'expected "layers" (a manifest) or "manifests" (an index), found neither';
}

function parseShared(json: JsonObject, where: string): Omit<Index, 'manifests'> {
  const { schemaVersion, subject } = json;
  const mediaType = parseText(json['mediaType'], 'mediaType', where);
  const artifactType = parseText(json['artifactType'], 'artifactType', where);
  const annotations = parseAnnotations(json['annotations'], 'annotations', where);
  return {
    ...(typeof schemaVersion === 'number' ? { schemaVersion } : {}),
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(artifactType === undefined ? {} : { artifactType }),
    ...(subject === undefined || subject === null ? {} : { subject: parseDescriptor(subject, 'subject', where) }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function parseList(json: JsonObject, field: string, where: string, limits: Limits): Descriptor[] {
  const list = json[field] ?? [];
  if (!Array.isArray(list)) throw badManifest(where, field, 'an array', list);
  if (list.length > limits.manifestLayers) throw badManifest(where, field, `at most ${limits.manifestLayers} entries`, list.length);
  return list.map((entry, index) => parseDescriptor(entry, `${field}[${index}]`, where));
}

function ambiguous(where: string, reason: string): Error {
  return refuse(where, `${reason}; readers would disagree about what it is`);
}

function refuse(where: string, reason: string): Error {
  return createError('oci/bad-manifest', { message: `Cannot use the manifest "${where}": ${reason}`, where });
}
