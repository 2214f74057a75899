import type { Descriptor, Part } from '../../core/index.js';
import { formatFileMetadata } from './file-metadata.js';
import type { PlannedLayer } from './plan-layers.js';
import {
  annotationKeys,
  configMediaType,
  draftLayerKeys,
  familyOf,
  layerArtifactType,
  manifestArtifactType,
  ociManifestType,
  titleKey,
  toLayerType,
  type Vintage,
} from './spec.js';

const executableBits = 0o111;
const readme = /^readme(\.|$)/i;
const license = /^(licen[cs]e|copying|notice)(\.|-|$)/i;

/** Permission bits as they travel: what a checkout on any machine would have. */
export function portableMode(part: Part): number {
  return ((part.mode ?? 0) & executableBits) === 0 ? 0o644 : 0o755;
}

/** The descriptor of a written layer. `stored` is what the sink said; `mtime` seconds since 1970. */
export function toLayerDescriptor(layer: PlannedLayer, vintage: Vintage, stored: Pick<Descriptor, 'digest' | 'size'>, mtime: number): Descriptor {
  const mediaType = toLayerType(vintage, layer.kind, layer.encoding);
  const secondType = vintage === 'draft-2024' && layer.encoding !== 'raw' ? { artifactType: layerArtifactType(layer.encoding) } : {};
  return { mediaType, ...secondType, digest: stored.digest, size: stored.size, annotations: layerAnnotations(layer, vintage, mtime) };
}

/** Title only where the layer is the file itself: who goes by the title must not find a tar under a file's name. */
function layerAnnotations(layer: PlannedLayer, vintage: Vintage, mtime: number): Record<string, string> {
  const keys = annotationKeys[familyOf(vintage)];
  return {
    ...(layer.encoding === 'raw' ? { [titleKey]: layer.filepath } : {}),
    [keys.filepath]: layer.filepath,
    [keys.metadata]: formatFileMetadata(fileMetadataOf(layer, mtime)),
    [keys.untested]: String(layer.parts.some((part) => part.guessed === true)),
    ...(vintage === 'draft-2024' ? draftRoles(layer) : {}),
  };
}

function fileMetadataOf(layer: PlannedLayer, mtime: number): Parameters<typeof formatFileMetadata>[0] {
  const size = layer.parts.reduce((sum, part) => sum + part.size, 0);
  if (layer.group) return { name: layer.filepath, mode: 0o755, size, mtime, directory: true };
  return { name: layer.filepath.slice(layer.filepath.lastIndexOf('/') + 1), mode: portableMode(layer.parts[0] as Part), size, mtime };
}

/** Booleans as text. (draft, Layer Annotation Keys) */
function draftRoles(layer: PlannedLayer): Record<string, string> {
  if (layer.kind === 'weight' || layer.kind === 'weight.config') return { [draftLayerKeys[layer.kind]]: 'true' };
  const name = layer.filepath.slice(layer.filepath.lastIndexOf('/') + 1);
  if (layer.kind === 'doc' && readme.test(name)) return { [draftLayerKeys.readme]: 'true' };
  if (layer.kind === 'doc' && license.test(name)) return { [draftLayerKeys.license]: 'true' };
  return {};
}

/** Fields in the order of the specification's example, so that equal packages are equal bytes. */
export function toManifest(
  vintage: Vintage,
  config: Pick<Descriptor, 'digest' | 'size'>,
  layers: readonly Descriptor[],
  annotations: Readonly<Record<string, string>>,
): object {
  return {
    schemaVersion: 2,
    mediaType: ociManifestType,
    artifactType: manifestArtifactType(vintage),
    config: { mediaType: configMediaType(vintage), digest: config.digest, size: config.size },
    layers,
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
}
