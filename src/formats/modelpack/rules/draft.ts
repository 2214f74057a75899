import { configFields } from '../config-fields.js';
import { isWeightsFile } from '../roles.js';
import { draftLayerKeys, draftPrefix, encodings, layerArtifactType, manifestArtifactType, toLayerType } from '../spec.js';
import type { LayerView } from '../manifest-view.js';
import type { LayerState } from './context.js';
import { judgeEncoding } from './layers.js';
import { type Breach, type Rule, show } from './rule.js';

const extension = 'Image Manifest Extension Properties';
const tarType = toLayerType('draft-2024', 'weight', 'tar');
const gzipType = toLayerType('draft-2024', 'weight', 'tar+gzip');

/** Rules of the draft of 2024 alone. */
export const draftRules: readonly Rule[] = [
  {
    id: 'MP-47',
    slug: 'draft-artifact-type',
    level: 'error',
    vintages: ['draft-2024'],
    clause: {
      document: 'draft spec.md',
      section: extension,
      quote: 'This REQUIRED property MUST contain the media type application/vnd.cnai.model.manifest.v1+json',
    },
    title: 'artifactType is the model manifest',
    check: ({ view }) => expectType('artifactType', view.artifactType, manifestArtifactType('draft-2024')),
  },
  {
    id: 'MP-48',
    slug: 'draft-support',
    level: 'error',
    vintages: ['draft-2024'],
    clause: { document: 'draft spec.md', section: `${extension}, layers`, quote: 'Implementations MUST support at least the following media types' },
    title: 'implementations support the tar and the tar+gzip layer',
    notCheckable: 'It asks something of programs; modelport reads both and writes both',
  },
  {
    id: 'MP-49',
    slug: 'draft-tar-type',
    level: 'error',
    vintages: ['draft-2024'],
    clause: {
      document: 'draft spec.md',
      section: `${extension}, layers`,
      quote: 'If mediaType is application/vnd.oci.image.layer.v1.tar, the artifactType MUST be application/vnd.cnai.model.layer.v1.tar',
    },
    title: 'a tar layer says so in its artifactType',
    check: ({ view }) =>
      view.layers
        .filter(({ mediaType }) => mediaType === tarType)
        .flatMap((layer) => expectType(`${layer.where}.artifactType`, layer.artifactType, layerArtifactType('tar'))),
  },
  {
    id: 'MP-50',
    slug: 'draft-gzip-type',
    level: 'error',
    vintages: ['draft-2024'],
    clause: {
      document: 'draft spec.md',
      section: `${extension}, layers`,
      quote: 'If mediaType is application/vnd.oci.image.layer.v1.tar+gzip, the artifactType MUST be application/vnd.cnai.model.layer.v1.tar+gzip',
    },
    title: 'a tar+gzip layer says so in its artifactType',
    check: ({ view }) =>
      view.layers
        .filter(({ mediaType }) => mediaType === gzipType)
        .flatMap((layer) => expectType(`${layer.where}.artifactType`, layer.artifactType, layerArtifactType('tar+gzip'))),
  },
  {
    id: 'MP-51',
    slug: 'draft-consistent-types',
    level: 'error',
    vintages: ['draft-2024'],
    clause: { document: 'draft spec.md', section: `${extension}, layers`, quote: 'The mediaType and artifactType MUST be consistent' },
    title: 'mediaType and artifactType of any other layer say the same encoding',
    check: ({ view }) => view.layers.filter(({ mediaType }) => mediaType !== tarType && mediaType !== gzipType).flatMap(judgeConsistency),
  },
  {
    id: 'MP-52',
    slug: 'draft-layer-bytes',
    level: 'error',
    vintages: ['draft-2024'],
    clause: {
      document: 'draft spec.md',
      section: `${extension}, layers`,
      quote: 'for detailed definitions of Filesystem Layers, please refer to the Image Layer Filesystem Changeset',
    },
    title: 'a layer is a tar archive, encoded as its media type says',
    check: ({ layers }) => layers.flatMap((layer) => judgeEncoding(layer, compressionOf(layer))),
  },
  {
    id: 'MP-53',
    slug: 'draft-layer-keys',
    level: 'warning',
    vintages: ['draft-2024'],
    clause: {
      document: 'draft spec.md',
      section: `${extension}, layers, annotations`,
      quote: 'SHOULD set the pre-defined annotation keys, refer to the Layer Annotation Keys',
    },
    title: 'every layer has one of the predefined annotation keys',
    check: ({ view, keys }) =>
      view.layers
        .filter(({ annotations }) => ![...Object.values(draftLayerKeys), keys.filepath].some((key) => Object.hasOwn(annotations, key)))
        .map(({ where }) => ({
          where: `${where}.annotations`,
          message: 'No predefined key says what the layer holds',
          hint: `Add for example ${draftLayerKeys.weight} with the value "true"`,
        })),
  },
  {
    id: 'MP-54',
    slug: 'draft-manifest-keys',
    level: 'warning',
    vintages: ['draft-2024'],
    clause: {
      document: 'draft spec.md',
      section: `${extension}, annotations`,
      quote: 'SHOULD set the pre-defined annotation keys, refer to the Manifest Annotation Keys',
    },
    title: 'the manifest has predefined annotation keys',
    check: ({ view }) => {
      const known = configFields.some(({ draft }) => draft !== undefined && Object.hasOwn(view.annotations, draftPrefix + draft));
      return known ? [] : [{ where: 'annotations', message: 'No predefined key says what the model is', hint: `Add for example ${draftPrefix}name` }];
    },
  },
  {
    id: 'MP-55',
    slug: 'draft-compressed-model',
    level: 'warning',
    vintages: ['draft-2024'],
    clause: { document: 'draft spec.md', section: 'BUILD & PUSH', quote: 'the model layer MUST NOT be compressed' },
    title: 'layers with weights are not compressed (a warning, because the same text makes the +gzip form one that all must support)',
    check: ({ layers }) =>
      layers
        .filter((layer) => isModelLayer(layer) && layer.view.type?.encoding.includes('+') === true)
        .map(({ view: { where, mediaType } }) => ({
          where: `${where}.mediaType`,
          message: `A model layer is compressed: ${mediaType}`,
          hint: `Use ${tarType}, or mark the layer as what else it is`,
        })),
  },
  {
    id: 'MP-56',
    slug: 'draft-recommended-type',
    level: 'warning',
    vintages: ['draft-2024'],
    clause: {
      document: 'draft spec.md',
      section: 'BUILD & PUSH',
      quote: "it's recommended to use the application/vnd.oci.image.layer.v1.tar format for the model layer",
    },
    title: 'layers with weights have the recommended media type',
    check: ({ layers }) =>
      layers
        .filter((layer) => isModelLayer(layer) && layer.view.type?.encoding === 'tar' && layer.view.mediaType !== tarType)
        .map(({ view: { where, mediaType } }) => ({
          where: `${where}.mediaType`,
          message: `Expected ${tarType}, found ${mediaType}`,
          hint: `Use ${tarType}`,
        })),
  },
  {
    id: 'MP-57',
    slug: 'draft-extension',
    level: 'error',
    vintages: ['draft-2024'],
    clause: {
      document: 'draft spec.md',
      section: 'Model Format Specification',
      quote: 'the model specification must be defined through the artifact extension based on the OCI image specification',
    },
    title: 'the specification is an extension of the OCI image specification',
    notCheckable: 'It speaks of the specification, not of a package',
  },
];

function expectType(where: string, found: string | undefined, expected: string): Breach[] {
  return found === expected
    ? []
    : [{ where, message: `Expected ${show(expected)}, found ${show(found)}`, hint: `Set ${where} to ${show(expected)}` }];
}

function judgeConsistency({ where, mediaType, artifactType }: LayerView): Breach[] {
  const encoding = encodings.find(
    (each) => each !== 'raw' && `.${each}` === /\.tar(?:\+\w+)?$/.exec(mediaType.replace(/\.(gzip|zstd)$/, '+$1'))?.[0],
  );
  const expected = encoding === undefined || encoding === 'raw' ? undefined : layerArtifactType(encoding);
  return artifactType === expected
    ? []
    : [
        {
          where: `${where}.artifactType`,
          message: `${show(mediaType)} asks for ${show(expected)}, found ${show(artifactType)}`,
          hint: `Use ${tarType} and ${layerArtifactType('tar')}`,
        },
      ];
}

function compressionOf({ view }: LayerState): 'none' | 'gzip' | 'zstd' {
  const encoding = view.type?.encoding;
  return encoding === 'tar+gzip' ? 'gzip' : encoding === 'tar+zstd' ? 'zstd' : 'none';
}

/** Marked as the model, or not marked at all and with weights in it, as far as that can be seen. */
function isModelLayer({ view: { annotations }, content: { entries } }: LayerState): boolean {
  const { weight, ...others } = draftLayerKeys;
  if (annotations[weight] === 'true') return true;
  const isOther = Object.values(others).some((key) => annotations[key] === 'true');
  return !isOther && (entries === undefined || entries.some(({ name }) => isWeightsFile(name)));
}
