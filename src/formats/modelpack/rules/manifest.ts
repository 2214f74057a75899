import { isJsonObject } from '../../../core/index.js';
import { configMediaType, encodings, kinds, manifestArtifactType, ociManifestType, toLayerType } from '../spec.js';
import { type RuleContext, typedVintages } from './context.js';
import { type Breach, type Rule, show } from './rule.js';

const section = 'OCI Image Manifest Specification For Model Artifacts';

/** Rules on the manifest. */
export const manifestRules: readonly Rule[] = [
  {
    id: 'MP-01',
    slug: 'schema-version',
    level: 'error',
    vintages: ['cncf', 'cnai', 'draft-2024'],
    clause: { document: 'spec.md', section, quote: 'follows the OCI Image Manifest Specification' },
    title: 'schemaVersion is 2',
    check: ({ view }) => expectValue(view.json['schemaVersion'], 2, 'schemaVersion'),
  },
  {
    id: 'MP-02',
    slug: 'manifest-media-type',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: 'mediaType', quote: `This REQUIRED property MUST be \`${ociManifestType}\`` },
    title: 'mediaType is the OCI image manifest',
    check: ({ view }) => expectValue(view.json['mediaType'], ociManifestType, 'mediaType'),
  },
  {
    id: 'MP-03',
    slug: 'artifact-type',
    level: 'error',
    vintages: typedVintages,
    clause: {
      document: 'spec.md',
      section: 'artifactType',
      quote: 'This REQUIRED property MUST be `application/vnd.{cncf,cnai}.model.manifest.v1+json`',
    },
    title: 'artifactType is the model manifest',
    check: ({ view, vintage }) => expectValue(view.json['artifactType'], manifestArtifactType(vintage), 'artifactType'),
  },
  {
    id: 'MP-04',
    slug: 'config-missing',
    level: 'error',
    vintages: typedVintages,
    clause: {
      document: 'spec.md',
      section: 'config',
      quote: 'This REQUIRED property references a configuration object for an AI/ML model, by digest',
    },
    title: 'config names a blob that is there',
    check: ({ config }) =>
      config.kind === 'absent'
        ? [{ where: 'config', message: `Cannot reach the config: ${config.reason}`, hint: 'Pack the model again, or copy it again with all blobs' }]
        : [],
  },
  {
    id: 'MP-05',
    slug: 'config-media-type',
    level: 'error',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: 'config', quote: 'This REQUIRED property MUST be `application/vnd.{cncf,cnai}.model.config.v1+json`' },
    title: 'config.mediaType is the model config',
    check: ({ view, vintage }) =>
      view.config === undefined ? [] : expectValue(view.config.json['mediaType'], configMediaType(vintage), 'config.mediaType'),
  },
  {
    id: 'MP-06',
    slug: 'layer-descriptor',
    level: 'error',
    vintages: ['cncf', 'cnai', 'draft-2024'],
    clause: { document: 'spec.md', section: 'layers', quote: '`layers` _array of objects_' },
    title: 'layers is an array of descriptors with mediaType, digest and size',
    check: checkDescriptors,
  },
  {
    id: 'MP-07',
    slug: 'layer-media-type',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: 'layers', quote: 'Implementations SHOULD support the following media types' },
    title: 'every layer has one of the media types that implementations support',
    check: checkLayerTypes,
  },
  {
    id: 'MP-08',
    slug: 'predefined-keys',
    level: 'warning',
    vintages: typedVintages,
    clause: { document: 'spec.md', section: 'layers, annotations', quote: 'implementations SHOULD use the predefined annotation keys' },
    title: 'every layer names its file under the predefined key',
    check: ({ view, keys }) =>
      view.layers
        .filter(({ annotations }) => !Object.hasOwn(annotations, keys.filepath))
        .map(({ where }) => ({
          where: `${where}.annotations`,
          message: `${keys.filepath} is missing, so readers have to guess the path`,
          hint: `Add ${keys.filepath} with the path of the file`,
        })),
  },
];

function expectValue(found: unknown, expected: string | number, where: string): Breach[] {
  return found === expected
    ? []
    : [{ where, message: `Expected ${show(expected)}, found ${show(found)}`, hint: `Set ${where} to ${show(expected)}` }];
}

function checkDescriptors({ view }: RuleContext): Breach[] {
  if (!Array.isArray(view.json['layers']))
    return [{ where: 'layers', message: `Expected an array, found ${show(view.json['layers'])}`, hint: 'Pack the model again' }];
  return view.layers.flatMap(({ where, json, mediaType, descriptor }) => {
    const wrong = mediaType === '' ? 'mediaType' : descriptor === undefined ? 'digest or size' : undefined;
    const found = isJsonObject(json) ? show({ digest: json['digest'], size: json['size'] }) : show(json);
    return wrong === undefined
      ? []
      : [
          {
            where,
            message: `Expected a descriptor, but its ${wrong} is missing or malformed, found ${found}`,
            hint: 'Pack the model again: nobody can fetch such a layer',
          },
        ];
  });
}

function checkLayerTypes({ view, vintage }: RuleContext): Breach[] {
  return view.layers.flatMap(({ where, mediaType, type }) => {
    if (mediaType === '' || (type?.family === vintage && type.deviation === undefined)) return [];
    const reason =
      type === undefined || type.family === 'image'
        ? 'it is none of the layer types of a ModelPack'
        : (type.deviation ?? `it belongs to the ${type.family} names`);
    const meant =
      type?.kind === undefined
        ? `one of ${vintage === 'cncf' ? kinds.length * encodings.length : 16} types as ${toLayerType(vintage, 'weight', 'tar')}`
        : toLayerType(vintage, type.kind, meantEncoding(vintage, type.kind, type.encoding));
    return [{ where: `${where}.mediaType`, message: `${show(mediaType)}: ${reason}`, hint: `Use ${meant}` }];
  });
}

/** The cnai specification has raw weights only. */
function meantEncoding(
  vintage: RuleContext['vintage'],
  kind: (typeof kinds)[number],
  encoding: (typeof encodings)[number],
): (typeof encodings)[number] {
  return vintage === 'cnai' && encoding === 'raw' && kind !== 'weight' ? 'tar' : encoding;
}
