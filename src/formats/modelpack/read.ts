import { findTwins, judgePath, mapConcurrent, portabilityOf, type StackedLayers, stackLayers } from '../../bytes/index.js';
import {
  createError,
  type Descriptor,
  emptyIo,
  type Finding,
  isJsonObject,
  isToolkitError,
  type JsonObject,
  type Limits,
  type ModelPackage,
  type OciSource,
  type PackageSource,
  type Part,
  type ReadOptions,
} from '../../core/index.js';
import { type ConfigBlob, readConfigBlob } from './config-blob.js';
import { identify } from './detect.js';
import { type LayerContent, lookInto } from './layer-content.js';
import { type LayerView, type ManifestView, parseManifestView } from './manifest-view.js';
import { findLayerPath } from './placement.js';
import { type Described, describeAnnotations, describeConfig } from './read-config.js';
import { readLayer, roleOf, toMember } from './read-layers.js';
import { annotationKeys, draftLayerKeys, draftPrefix, formerMetadataKey, titleKey, type Vintage } from './spec.js';

/** Layers looked into at a time. */
export const lookConcurrency = 8;

/**
 * A ModelPack of any vintage → package. Reads the config, the headers of plain tar layers and small compressed ones; raw layers are not
 * touched. What is odd becomes a finding. Throws `modelpack/unreadable` when it is no ModelPack, and what network and disk throw.
 */
export async function read(source: PackageSource, options: ReadOptions): Promise<ModelPackage> {
  const { oci, view, vintage } = openModelpack(source, options);
  const config = await readConfigBlob(oci, view, options.limits);
  const described = describe(view, vintage, config);
  const contents = await listTars(view, oci, options);
  const { parts, findings } =
    vintage === 'draft-2024' ? readStack(view.layers, contents, oci, options) : readEach(view.layers, contents, oci, options);
  return {
    format: 'modelpack',
    vintage,
    identity: described.identity,
    weights: described.weights,
    capabilities: described.capabilities,
    parts,
    io: emptyIo,
    run: {},
    extra: toExtra(view, described),
    findings: [...toFindings(config), ...described.findings, ...findings],
  };
}

/** Of a ModelPack, without a look at its layers. */
export async function readSummary(source: PackageSource, options: ReadOptions): Promise<Pick<ModelPackage, 'identity' | 'weights'>> {
  const { oci, view, vintage } = openModelpack(source, options);
  const { identity, weights } = describe(view, vintage, await readConfigBlob(oci, view, options.limits));
  return { identity, weights };
}

/** The manifest of a source that `detect` accepts; throws `modelpack/unreadable` for others. */
export function openModelpack(
  source: PackageSource,
  options: ReadOptions,
): { readonly oci: OciSource; readonly view: ManifestView; readonly vintage: Vintage } {
  if (source.kind === 'oci') {
    const view = parseManifestView(source.bytes, source.location, options.limits);
    const detection = identify(view);
    if (detection !== undefined) return { oci: source, view, vintage: detection.vintage };
  }
  throw createError('modelpack/unreadable', {
    message: `Cannot read "${source.location}" as a ModelPack: nothing in it says that it is one`,
    where: source.location,
  });
}

/** The files of each layer by itself, in the order of the manifest: of the draft's stacked layers also those that a later one hides. */
export async function listPartsByLayer(source: PackageSource, options: ReadOptions): Promise<readonly (readonly Part[])[]> {
  const { oci, view } = openModelpack(source, options);
  const contents = await listTars(view, oci, options);
  return view.layers.map((layer) => readLayer(layer, contents[layer.index], oci.blobs, options.limits).parts);
}

/** The files that the stacked layers of an ordinary image show; for what is no ModelPack but may be looked into all the same. */
export async function readImageFiles(
  source: OciSource,
  options: ReadOptions,
): Promise<{ readonly parts: readonly Part[]; readonly findings: readonly Finding[] }> {
  const view = parseManifestView(source.bytes, source.location, options.limits);
  return readStack(view.layers, await listTars(view, source, options), source, options);
}

/** Undefined for raw layers. */
async function listTars(view: ManifestView, source: OciSource, { limits }: ReadOptions): Promise<readonly (LayerContent | undefined)[]> {
  return mapConcurrent(view.layers, lookConcurrency, async (layer) =>
    layer.type === undefined || layer.type.encoding === 'raw' ? undefined : lookInto(layer, source.blobs, limits),
  );
}

function toFindings(config: ConfigBlob): Finding[] {
  return config.kind === 'json' ? [] : [{ level: 'error', code: 'modelpack/config-unreadable', message: config.reason, where: 'config' }];
}

/** Drafts said in annotations what configs say since; where both speak, the config is the later word. */
function describe(view: ManifestView, vintage: Vintage, config: ConfigBlob): Described {
  const json = config.kind === 'json' ? config.json : {};
  const isImageConfig = vintage === 'draft-2024' && !view.config?.mediaType.includes('.model.');
  const fromConfig = isImageConfig ? describeImageConfig(json) : describeConfig(json);
  const fromAnnotations = vintage === 'cncf' ? { ...nothing, rest: view.annotations } : describeAnnotations(view.annotations);
  const homepageKey = [`${draftPrefix}url`, 'org.opencontainers.image.url'].find((key) => view.annotations[key] !== undefined);
  return {
    identity: {
      ...(homepageKey === undefined ? {} : { homepage: view.annotations[homepageKey] as string }),
      ...fromAnnotations.identity,
      ...fromConfig.identity,
    },
    weights: { ...fromAnnotations.weights, ...fromConfig.weights },
    capabilities: fromConfig.capabilities,
    diffIds: fromConfig.diffIds,
    rest: {
      config: fromConfig.rest,
      annotations: Object.fromEntries(Object.entries(fromAnnotations.rest).filter(([key]) => key !== homepageKey)),
    },
    findings: fromConfig.findings,
  };
}

const nothing: Described = { identity: {}, weights: {}, capabilities: {}, diffIds: [], rest: {}, findings: [] };

function describeImageConfig(json: JsonObject): Described {
  const rootfs = json['rootfs'];
  const found = isJsonObject(rootfs) && Array.isArray(rootfs['diff_ids']) ? (rootfs['diff_ids'] as readonly unknown[]) : [];
  return { ...nothing, diffIds: found.filter((each): each is string => typeof each === 'string'), rest: json };
}

function readEach(
  layers: readonly LayerView[],
  contents: readonly (LayerContent | undefined)[],
  source: OciSource,
  { limits }: ReadOptions,
): { parts: Part[]; findings: Finding[] } {
  const each = layers.map((layer) => readLayer(layer, contents[layer.index], source.blobs, limits));
  const parts = each.flatMap((layer) => layer.parts);
  const odd = listOddNames(parts, (path) => (judgePath(path, limits) === undefined ? portabilityOf(path) : undefined));
  return { parts, findings: [...each.flatMap((layer) => layer.findings), ...listTwins(parts), ...odd] };
}

function listTwins(parts: readonly Part[]): Finding[] {
  return findTwins(parts.map(({ path }) => path)).map(({ kind, first, second }) => {
    const isClash = kind === 'duplicate' || kind === 'file-and-folder';
    return {
      level: isClash ? 'error' : 'warning',
      code: isClash ? 'modelpack/same-path' : 'modelpack/folding-path',
      rule: isClash ? 'MP-A3' : 'MP-A4',
      message: isClash
        ? `${JSON.stringify(first)} and ${JSON.stringify(second)} cannot stand beside each other`
        : `${JSON.stringify(first)} and ${JSON.stringify(second)} are one path where case or Unicode form is ignored`,
      where: second,
    };
  });
}

/** Names that are files here and not everywhere. */
function listOddNames(parts: readonly Part[], judge: (path: string) => string | undefined): Finding[] {
  return parts.flatMap(({ path }) => {
    const reason = judge(path);
    return reason === undefined
      ? []
      : [
          {
            level: 'warning' as const,
            code: 'modelpack/odd-name',
            message: `Not every system can unpack ${JSON.stringify(path)}: ${reason}`,
            where: path,
            hint: 'Rename it',
          },
        ];
  });
}

/** Image layers lie on each other: later ones replace and delete what earlier ones hold. (image-spec layer.md) */
function readStack(
  layers: readonly LayerView[],
  contents: readonly (LayerContent | undefined)[],
  source: OciSource,
  { limits }: ReadOptions,
): { parts: Part[]; findings: Finding[] } {
  const unlisted = layers
    .filter((layer) => contents[layer.index]?.entries === undefined)
    .map((layer) => readLayer(layer, contents[layer.index], source.blobs, limits));
  const stacked = stack(contents, limits);
  const files = stacked.entries
    .filter(({ kind }) => kind === 'file')
    .map((entry): Part => {
      const layer = layers[entry.layer] as LayerView;
      const bytes = {
        blobs: source.blobs,
        descriptor: layer.descriptor as Descriptor,
        compression: contents[entry.layer]?.compression ?? 'none',
        limits,
      };
      return { ...roleOf(layer, entry.path), path: entry.path, mediaType: layer.mediaType, ...toMember(bytes, entry) };
    });
  const odd = listOddNames(files, (path) => judgePath(path, limits) ?? portabilityOf(path));
  return {
    parts: [...files, ...unlisted.flatMap((each) => each.parts)],
    findings: [...unlisted.flatMap((each) => each.findings), ...stacked.findings, ...listTwins(files), ...odd],
  };
}

function stack(contents: readonly (LayerContent | undefined)[], limits: Limits): StackedLayers {
  try {
    return stackLayers(
      contents.map((content) => content?.entries ?? []),
      limits,
    );
  } catch (error) {
    if (!isToolkitError(error) || error.exitCode !== 1) throw error;
    return { entries: [], findings: [{ level: 'error', code: 'modelpack/unsafe-path', message: error.message, where: error.where ?? 'layers' }] };
  }
}

const mappedKeys: ReadonlySet<string> = new Set([
  ...Object.values(annotationKeys.cncf),
  ...Object.values(annotationKeys.cnai),
  ...Object.values(draftLayerKeys),
  formerMetadataKey,
  titleKey,
]);

/** Verbatim what has no neutral place. */
function toExtra(view: ManifestView, described: Described): Readonly<Record<string, unknown>> {
  const { subject } = view.json;
  const rest = described.rest as { readonly config: JsonObject; readonly annotations: JsonObject };
  const extra = {
    artifactType: view.artifactType,
    annotations: rest.annotations,
    config: rest.config,
    subject,
    diffIds: described.diffIds,
    layers: view.layers.map(toRow),
  };
  return Object.fromEntries(
    Object.entries(extra).filter(([, value]) => value !== undefined && !(isJsonObject(value) && Object.keys(value).length === 0)),
  );
}

function toRow(layer: LayerView): object {
  const { json, mediaType, artifactType, type } = layer;
  const filepath = findLayerPath(layer.annotations);
  const unmapped = Object.entries(layer.annotations).filter(([key]) => !mappedKeys.has(key));
  return {
    mediaType,
    ...(artifactType === undefined ? {} : { artifactType }),
    digest: json['digest'],
    size: json['size'],
    ...(filepath === undefined ? {} : { filepath }),
    encoding: type?.encoding ?? 'raw',
    ...(unmapped.length === 0 ? {} : { annotations: Object.fromEntries(unmapped) }),
  };
}
