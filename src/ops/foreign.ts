import { type Descriptor, emptyIo, type Finding, type ModelPackage, type OciSource, type Part } from '../core/index.js';
import { readImageFiles } from '../formats/index.js';
import { isImageConfigType, isImageLayerType, type Manifest, parseManifest } from '../oci/index.js';
import type { OpsContext } from './context.js';

const titleKey = 'org.opencontainers.image.title';

/** Formats of other tools, recognised by a type so that a person hears the right name. (reference: what a universal tool should read) */
const foreignTypes: readonly (readonly [RegExp, string, string])[] = [
  [/^application\/vnd\.kitops\.modelkit\./, 'modelkit', 'a KitOps ModelKit'],
  [/^application\/vnd\.docker\.ai\./, 'docker-ai', 'a Docker AI model'],
  [/^application\/vnd\.ollama\./, 'ollama', 'an Ollama model'],
];

/** An index, an ordinary image or somebody else's artifact, named for what it is and never called a ModelPack. */
export async function describeForeign(source: OciSource, context: OpsContext): Promise<ModelPackage> {
  const parsed = parseManifest(source.bytes, source.location, context.limits);
  const base = { identity: {}, weights: {}, capabilities: {}, io: emptyIo, run: {} };
  if (parsed.kind === 'index') {
    const entries = parsed.index.manifests.map((entry) => ({ ...entry, name: entry.annotations?.['org.opencontainers.image.ref.name'] ?? null }));
    return {
      ...base,
      format: 'index',
      parts: [],
      extra: { entries, ...annotationsOf(parsed.index.annotations) },
      findings: [indexNote(entries[0], source.location)],
    };
  }
  const { manifest } = parsed;
  const types = [manifest.artifactType ?? '', manifest.config.mediaType, ...manifest.layers.map((layer) => layer.mediaType)];
  const foreign = foreignTypes.find(([grammar]) => types.some((type) => grammar.test(type)));
  const isImage = isOrdinaryImage(manifest);
  const { parts, findings } = isImage
    ? await readImageFiles(source, context)
    : { parts: manifest.layers.map((layer, index) => toPart(layer, index, source)), findings: [] };
  return {
    ...base,
    format: foreign?.[1] ?? (isImage ? 'image' : 'artifact'),
    parts,
    extra: { artifactType: manifest.artifactType ?? null, configMediaType: manifest.config.mediaType, ...annotationsOf(manifest.annotations) },
    findings: [
      ...findings,
      {
        level: 'note',
        code: 'format/foreign',
        message: `This is ${foreign?.[2] ?? (isImage ? 'a container image' : 'an OCI artifact of another kind')}, not a model package that modelport reads`,
      },
    ],
  };
}

function isOrdinaryImage({ config, layers }: Manifest): boolean {
  return isImageConfigType(config.mediaType) && layers.every((layer) => isImageLayerType(layer.mediaType));
}

/** Of an ordinary image, lowest first; undefined for everything else. */
export function listImageLayers(source: OciSource, context: OpsContext): readonly Descriptor[] | undefined {
  const parsed = parseManifest(source.bytes, source.location, context.limits);
  return parsed.kind === 'manifest' && isOrdinaryImage(parsed.manifest) ? parsed.manifest.layers : undefined;
}

function indexNote(first: Descriptor | undefined, location: string): Finding {
  const hint = first === undefined ? undefined : `Choose one by digest, for example ${location.split('@')[0]}@${first.digest}`;
  return { level: 'note', code: 'format/index', message: 'This is an index of several packages', ...(hint === undefined ? {} : { hint }) };
}

function annotationsOf(annotations: Readonly<Record<string, string>> | undefined): { annotations?: Readonly<Record<string, string>> } {
  return annotations === undefined ? {} : { annotations };
}

function toPart(layer: Descriptor, index: number, source: OciSource): Part {
  return {
    role: 'other',
    path: layer.annotations?.[titleKey] ?? `layer-${index}`,
    mediaType: layer.mediaType,
    size: layer.size,
    digest: layer.digest,
    content: { kind: 'blob', blobs: source.blobs, descriptor: layer },
  };
}
