import { defaultLimits, type Detection, isToolkitError, type PackageSource } from '../../core/index.js';
import { configFields } from './config-fields.js';
import { type ManifestView, parseManifestView } from './manifest-view.js';
import { annotationKeys, draftLayerKeys, draftPrefix, type Family, parseLayerType, type Vintage } from './spec.js';

/** A ModelPack's vintage and what gave it away; undefined for everything else, an index or another tool's artifact included. */
export async function detect(source: PackageSource): Promise<(Detection & { readonly vintage: Vintage }) | undefined> {
  if (source.kind !== 'oci') return undefined;
  try {
    return identify(parseManifestView(source.bytes, source.location, defaultLimits));
  } catch (error) {
    if (isToolkitError(error)) return undefined;
    throw error;
  }
}

interface Evidence {
  readonly family: Family;
  readonly because: string;
}

/** Strongest evidence first; the manifest's mediaType says nothing, and something foreign beside it does not outweigh it. */
export function identify(view: ManifestView): (Detection & { readonly vintage: Vintage }) | undefined {
  if (Array.isArray(view.json['manifests'])) return undefined;
  const found =
    byType(view.artifactType, 'manifest', 'artifactType') ??
    byType(view.config?.mediaType, 'config', 'config.mediaType') ??
    byLayers(view) ??
    byAnnotations(view);
  if (found === undefined) return undefined;
  return { vintage: found.family === 'cncf' ? 'cncf' : isDraft(view) ? 'draft-2024' : 'cnai', because: found.because };
}

function byType(mediaType: string | undefined, what: 'manifest' | 'config', field: string): Evidence | undefined {
  const match = /^application\/vnd\.(cncf|cnai)\.model\.(manifest|config)\.v1\+json$/.exec(mediaType ?? '');
  return match?.[2] === what ? { family: match[1] as Family, because: `${field} is ${mediaType}` } : undefined;
}

function byLayers(view: ManifestView): Evidence | undefined {
  for (const layer of view.layers) {
    for (const [field, value] of [
      ['mediaType', layer.mediaType],
      ['artifactType', layer.artifactType],
    ] as const) {
      const family = parseLayerType(value ?? '')?.family;
      if (family === 'cncf' || family === 'cnai') return { family, because: `${layer.where}.${field} is ${value}` };
    }
  }
  return undefined;
}

const draftKeys: readonly string[] = configFields.flatMap(({ draft }) => (draft === undefined ? [] : [draftPrefix + draft]));

/**
 * Last resort, when a registry or a copy has dropped every type: keys that only a ModelPack carries. On image layers only those of the
 * draft count; an image that is annotated with the keys of `cncf` is an image all the same.
 */
function byAnnotations(view: ManifestView): Evidence | undefined {
  const onManifest = draftKeys.find((key) => Object.hasOwn(view.annotations, key));
  if (onManifest !== undefined) return { family: 'cnai', because: `the manifest is annotated with ${onManifest}` };
  for (const layer of view.layers) {
    for (const [family, keys] of layerKeys) {
      const key = family === 'cncf' && layer.type?.family === 'image' ? undefined : keys.find((each) => Object.hasOwn(layer.annotations, each));
      if (key !== undefined) return { family, because: `${layer.where} is annotated with ${key}` };
    }
  }
  return undefined;
}

const layerKeys: readonly (readonly [Family, readonly string[]])[] = [
  ['cncf', Object.values(annotationKeys.cncf)],
  ['cnai', [...Object.values(annotationKeys.cnai), ...Object.values(draftLayerKeys)]],
];

/** The draft has image layers only; without any layer the image config tells. */
function isDraft(view: ManifestView): boolean {
  if (view.layers.length === 0) return byType(view.config?.mediaType, 'config', '') === undefined && view.config !== undefined;
  return view.layers.every(({ type }) => type?.family === 'image');
}
