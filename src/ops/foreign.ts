import { type Descriptor, emptyIo, type Finding, type ModelPackage, type OciSource, type Part } from '../core/index.js';
import { readImageFiles } from '../formats/index.js';
import { isImageConfigType, isImageLayerType, type Manifest, type ParsedRoot, parseManifest } from '../oci/index.js';
import type { OpsContext } from './context.js';

const titleKey = 'org.opencontainers.image.title';

interface ForeignKind {
  /** As `format` in results. */
  readonly format: string;
  /** For a sentence. */
  readonly title: string;
}

/** Formats of other tools, recognised by a type so that a person hears the right name. */
const knownTypes: readonly (ForeignKind & { readonly type: RegExp })[] = [
  { type: /^application\/vnd\.kitops\.modelkit\./, format: 'modelkit', title: 'a KitOps ModelKit' },
  { type: /^application\/vnd\.docker\.ai\./, format: 'docker-ai', title: 'a Docker AI model' },
  { type: /^application\/vnd\.ollama\./, format: 'ollama', title: 'an Ollama model' },
];

/** Named for what it is and never called a ModelPack. */
function toKind(parsed: ParsedRoot): ForeignKind {
  if (parsed.kind === 'index') return { format: 'index', title: 'an index of several packages' };
  const { manifest } = parsed;
  const types = [manifest.artifactType ?? '', manifest.config.mediaType, ...manifest.layers.map((layer) => layer.mediaType)];
  const known = knownTypes.find(({ type }) => types.some((each) => type.test(each)));
  if (known !== undefined) return known;
  return isOrdinaryImage(manifest)
    ? { format: 'image', title: 'a container image' }
    : { format: 'artifact', title: 'an OCI artifact of another kind' };
}

function isOrdinaryImage({ config, layers }: Manifest): boolean {
  return isImageConfigType(config.mediaType) && layers.every((layer) => isImageLayerType(layer.mediaType));
}

/** The format of something that no reader of ours recognises. */
export function nameForeign(source: OciSource, context: OpsContext): string {
  return toKind(parseManifest(source.bytes, source.location, context.limits)).format;
}

/** An index, an ordinary image or somebody else's artifact, as far as it can be described. */
export async function describeForeign(source: OciSource, context: OpsContext): Promise<ModelPackage> {
  const parsed = parseManifest(source.bytes, source.location, context.limits);
  const { format, title } = toKind(parsed);
  const base = { format, identity: {}, weights: {}, capabilities: {}, io: emptyIo, run: {} };
  if (parsed.kind === 'index') {
    const entries = parsed.index.manifests.map((entry) => ({ ...entry, name: entry.annotations?.['org.opencontainers.image.ref.name'] ?? null }));
    return { ...base, parts: [], extra: { entries, ...annotationsOf(parsed.index.annotations) }, findings: [indexNote(entries[0], source.location)] };
  }
  const { manifest } = parsed;
  const { parts, findings } =
    format === 'image'
      ? await readImageFiles(source, context)
      : { parts: manifest.layers.map((layer, index) => toPart(layer, index, source)), findings: [] };
  const note: Finding = { level: 'note', code: 'format/foreign', message: `This is ${title}, not a model package that modelport reads` };
  return {
    ...base,
    parts,
    extra: { artifactType: manifest.artifactType ?? null, configMediaType: manifest.config.mediaType, ...annotationsOf(manifest.annotations) },
    findings: [...findings, note],
  };
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
