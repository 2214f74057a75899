/**
 * The words of the ModelPack specifications: vintages, media types, annotation keys. What a config holds stands in
 * config-fields.ts, the file metadata annotation in file-metadata.ts, roles against kinds in roles.ts.
 */
import { createError } from '../../core/index.js';
import { mediaTypes } from '../../oci/index.js';

/** The texts that circulate, newest first: the `cncf` names, the `cnai` names, and the draft of November 2024. */
export const vintages = ['cncf', 'cnai', 'draft-2024'] as const;
export type Vintage = (typeof vintages)[number];

/** Throws `ops/bad-option` that names the vintages there are. */
export function parseVintage(text: string): Vintage {
  const vintage = vintages.find((each) => each === text);
  if (vintage !== undefined) return vintage;
  throw createError('ops/bad-option', {
    message: `Cannot use the vintage "${text}": expected ${vintages.join(', ')}`,
    hint: 'Leave --vintage out for cncf',
  });
}

/** The prefix of media types and annotation keys. The draft uses the `cnai` names. */
export type Family = 'cncf' | 'cnai';

export function familyOf(vintage: Vintage): Family {
  return vintage === 'cncf' ? 'cncf' : 'cnai';
}

/** What a layer is meant for. (cncf spec.md, layers) */
export const kinds = ['weight', 'weight.config', 'doc', 'code', 'dataset'] as const;
export type Kind = (typeof kinds)[number];

export const encodings = ['raw', 'tar', 'tar+gzip', 'tar+zstd'] as const;
export type Encoding = (typeof encodings)[number];

export const ociManifestType = mediaTypes.manifest;
export const ociImageConfigType = mediaTypes.imageConfig;

/** The artifactType of the manifest; drafts of January 2025 wrote it as the manifest's mediaType. */
export function manifestArtifactType(vintage: Vintage): string {
  return `application/vnd.${familyOf(vintage)}.model.manifest.v1+json`;
}

/** The draft has no config of its own: its packages carry an ordinary image config. */
export function configMediaType(vintage: Vintage): string {
  return vintage === 'draft-2024' ? ociImageConfigType : `application/vnd.${vintage}.model.config.v1+json`;
}

/** What a layer's media type says. `kind` is undefined for image layers, whose annotations say it, if anything does. */
export interface LayerType {
  readonly family: Family | 'image';
  readonly kind: Kind | undefined;
  readonly encoding: Encoding;
  /** Why the type is not one of its specification's, for a finding. */
  readonly deviation?: string;
}

const modelType = /^application\/vnd\.(cncf|cnai)\.model\.([a-z.]+?)\.v1(?:\.([a-z+]+))?$/;
const imageType =
  /^application\/vnd\.(?:oci\.image\.layer\.(?:nondistributable\.)?v1\.tar|docker\.image\.rootfs\.(?:foreign\.)?diff\.tar)(?:[.+](gzip|zstd))?$/;

/** Names of kinds that drafts used and later texts dropped. */
const formerKinds: Readonly<Record<string, Kind>> = { layer: 'weight', config: 'weight.config', unknown: 'code' };
/** File formats that one tool writes where the encoding stands; the layer is the bare file. */
const formerEncodings: readonly string[] = ['gguf', 'safetensors'];

/** Media type → meaning, for everything that was ever published; undefined when it is no layer of a ModelPack or an image. */
export function parseLayerType(mediaType: string): LayerType | undefined {
  const image = imageType.exec(mediaType);
  if (image !== null) return { family: 'image', kind: undefined, encoding: image[1] === undefined ? 'tar' : (`tar+${image[1]}` as Encoding) };
  const model = modelType.exec(mediaType);
  if (model === null) return undefined;
  const [, family, name = '', suffix] = model as unknown as [string, Family, string?, string?];
  const kind = kinds.find((each) => each === name) ?? (Object.hasOwn(formerKinds, name) ? formerKinds[name] : undefined);
  const encoding = parseEncoding(suffix);
  if (kind === undefined || encoding === undefined) return undefined;
  const deviation = deviationOf(family, name, suffix);
  return { family, kind, encoding, ...(deviation === undefined ? {} : { deviation }) };
}

function parseEncoding(suffix: string | undefined): Encoding | undefined {
  if (suffix === undefined || formerEncodings.includes(suffix)) return 'raw';
  return encodings.find((encoding) => encoding === suffix);
}

function deviationOf(family: Family, kind: string, suffix: string | undefined): string | undefined {
  if (Object.hasOwn(formerKinds, kind)) return `the kind "${kind}" was in drafts only and stands for "${formerKinds[kind]}"`;
  if (suffix !== undefined && formerEncodings.includes(suffix)) return `the ending ".${suffix}" is one tool's own`;
  if (suffix === undefined && (family === 'cncf' || kind !== 'weight')) return 'the ending is missing; a bare file is ".raw" here';
  if (suffix === 'raw' && family === 'cnai') return 'the cnai specification has no ".raw"; its earlier releases had';
  return undefined;
}

/**
 * Meaning → the media type that a writer puts on the layer. The raw weight of `cnai` is the bare `weight.v1`; its other kinds have no
 * raw form in the specification, so `.raw` is written, which the tools of that time read. The draft has image layers only: raw throws
 * `modelpack/cannot-write`, and the kind goes into `layerArtifactType` and the annotations.
 */
export function toLayerType(vintage: Vintage, kind: Kind, encoding: Encoding): string {
  if (vintage !== 'draft-2024') {
    const bare = vintage === 'cnai' && kind === 'weight' && encoding === 'raw';
    return `application/vnd.${vintage}.model.${kind}.v1${bare ? '' : `.${encoding}`}`;
  }
  if (encoding === 'raw')
    throw createError('modelpack/cannot-write', {
      message: 'Cannot write a raw layer as "draft-2024": the draft knows tar layers only',
      hint: 'Choose layers = "tar", or another vintage',
    });
  return draftLayerTypes[encoding];
}

const draftLayerTypes = { tar: mediaTypes.layer, 'tar+gzip': mediaTypes.layerGzip, 'tar+zstd': mediaTypes.layerZstd } as const;

/** The second type of a draft's layer, on its descriptor; it says the same encoding. (draft, layers, artifactType) */
export function layerArtifactType(encoding: Exclude<Encoding, 'raw'>): string {
  return `application/vnd.cnai.model.layer.v1.${encoding}`;
}

/** Keys of a layer's annotations, by family. (annotations.md, Layer Annotation Keys) */
export const annotationKeys = {
  cncf: {
    filepath: 'org.cncf.model.filepath',
    metadata: 'org.cncf.model.file.metadata+json',
    untested: 'org.cncf.model.file.mediatype.untested',
  },
  cnai: {
    filepath: 'org.cnai.model.filepath',
    metadata: 'org.cnai.model.file.metadata+json',
    untested: 'org.cnai.model.file.mediatype.untested',
  },
} as const satisfies Record<Family, { filepath: string; metadata: string; untested: string }>;

/** How v0.0.4 alone spelled the file metadata; read, never written. */
export const formerMetadataKey = 'org.cnai.model.file.metadata';

/** What else names a layer's file in the wild. */
export const titleKey = 'org.opencontainers.image.title';

/** Layer annotations of the draft that say what is inside, "true" or "false". Written, and read before any guess. */
export const draftLayerKeys = {
  weight: 'org.cnai.model.model',
  'weight.config': 'org.cnai.model.config',
  readme: 'org.cnai.model.readme',
  license: 'org.cnai.model.license',
} as const;

/** Manifest annotations of the draft: this prefix and the `draft` name of a config field (config-fields.ts). */
export const draftPrefix = 'org.cnai.model.';
