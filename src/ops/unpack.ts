import { dirname } from 'node:path';
import { decompress, expectStream, removeLeftovers, sumSizes, unpackPackage, type UnpackSource } from '../bytes/index.js';
import { createError, type Descriptor, type Finding, type OciSource, type Part } from '../core/index.js';
import { compileGlobs } from '../buildfile/index.js';
import { detectFormat, listUnpackSources, type UnpackPlan } from '../formats/index.js';
import { parseManifest, toLayerLabel } from '../oci/index.js';
import type { OpsContext } from './context.js';
import { describeForeign, listImageLayers } from './foreign.js';
import { distinct, readSource } from './package.js';
import { listPartSources } from './part-sources.js';
import { toAbsolute } from './paths.js';
import type { UnpackResult } from './results.js';
import { type OpenedSource, openSource } from './source.js';
import { unpackShared } from './unpack-shared.js';

export interface UnpackOptions {
  readonly location: string;
  readonly output: string;
  /** Globs over paths; without any, everything. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Also owner and group, by number. */
  readonly sameOwner?: boolean;
  /** Into a folder that holds something already. */
  readonly overwrite?: boolean;
  /** Read-only files that share their bytes with the local store, which must hold the package: nothing is written twice. */
  readonly shared?: boolean;
  /** Of a package that lists its files with their hashes: nothing that the list leaves out. */
  readonly onlyListed?: boolean;
}

/**
 * The package's files on disk, exactly these, every byte proven before it stands under its name. One that comes from a registry goes on after
 * anything: what was fetched stays in a hidden folder at the target, and the same call takes it up.
 */
export async function unpack(options: UnpackOptions, context: OpsContext): Promise<UnpackResult> {
  return unpackOpened(await openSource(options.location, context), options, context);
}

/** The same of a source that is open; the location is for errors. */
export async function unpackOpened(source: OpenedSource, options: UnpackOptions, context: OpsContext): Promise<UnpackResult> {
  const target = toAbsolute(options.output, context);
  if (options.shared === true) assertShareable(source, options);
  if (source.kind === 'oci') expectStream(sizeOfLayers(source, context));
  if (source.kind === 'files') expectStream(sumSizes(source.tree));
  const select = await createSelection(source, options, context);
  const plan = await listSources(source, options, select, context);
  removeLeftovers(dirname(target));
  const { counters, progress, signal } = context;
  const overwrite = options.overwrite === true;
  const given = { counters, progress, overwrite, ...(signal === undefined ? {} : { signal }), ...(select === undefined ? {} : { select }) };
  const digest = source.kind === 'oci' ? source.root.digest : null;
  const { files, bytes, findings } =
    options.shared === true && source.kind === 'oci'
      ? await unpackShared(source.root, plan, target, given, context)
      : await unpackPackage(plan.sources, target, {
          ...given,
          policy: plan.policy,
          limits: context.limits,
          concurrency: context.concurrency,
          sameOwner: options.sameOwner === true,
          ...(source.kind === 'oci' && source.from === 'registry' ? { resumeKey: source.root.digest } : {}),
        });
  return { path: target, files, bytes, digest, findings: distinct([...plan.findings, ...findings]) };
}

function assertShareable(source: OpenedSource, { location, sameOwner }: UnpackOptions): void {
  if (sameOwner === true)
    throw createError('ops/bad-option', {
      message: `Cannot unpack "${location}" with --shared and --same-owner: shared files belong to whoever owns the store`,
      hint: 'Leave one of them out',
    });
  if (source.kind === 'oci' && source.from === 'store') return;
  const isRemote = source.kind === 'oci' && source.from === 'registry';
  throw createError('ops/bad-option', {
    message: `Cannot unpack "${location}" with --shared: it is not in the local store`,
    hint: isRemote ? `Fetch it first: \`modelport pull ${location}\`` : `Copy it there: \`modelport copy ${location} NAME\`, then unpack NAME`,
  });
}

/** Of a manifest that cannot be read others complain. */
function sizeOfLayers(source: OciSource, { limits }: OpsContext): number {
  try {
    const parsed = parseManifest(source.bytes, source.location, limits);
    return parsed.kind === 'index' ? 0 : parsed.manifest.layers.reduce((sum, layer) => sum + layer.size, 0);
  } catch {
    return 0;
  }
}

/** Undefined selects everything. A glob that matches no file is an error: a typing mistake must not look like an empty package. */
async function createSelection(source: OpenedSource, options: UnpackOptions, context: OpsContext): Promise<((path: string) => boolean) | undefined> {
  const { include = [], exclude = [] } = options;
  if (include.length + exclude.length === 0) return undefined;
  const { parts, linked = [] } = (await readSource(source, context)).pkg;
  for (const glob of include) {
    const matches = compileGlobs([glob]);
    if (![...parts, ...linked].some((part) => matches(part.path))) {
      throw createError('ops/path-not-found', {
        message: `Cannot include "${glob}": no file of the package matches`,
        hint: `See \`modelport ls ${options.location}\`; ** crosses folders`,
      });
    }
  }
  const [included, excluded] = [compileGlobs(include), compileGlobs(exclude)];
  return (path) => (include.length === 0 || included(path)) && !excluded(path);
}

/** With what is to be said of the package itself. */
interface PlannedUnpack extends UnpackPlan {
  readonly findings: readonly Finding[];
}

/** Of a package that a format knows nothing but the manifest is read here: unpacking reads the layers itself. */
async function listSources(
  source: OpenedSource,
  options: UnpackOptions,
  select: ((path: string) => boolean) | undefined,
  context: OpsContext,
): Promise<PlannedUnpack> {
  if (source.kind === 'folder')
    throw createError('format/unsupported', {
      message: `Cannot unpack "${options.location}": it is a bare folder`,
      hint: 'Its files are on the disk already',
    });
  const detected = await detectFormat(source);
  if (detected?.reader.id === 'modelpack') return { ...(await listUnpackSources(source, { limits: context.limits })), findings: [] };
  if (detected !== undefined || source.kind === 'files') {
    const { pkg } = await readSource(source, context);
    const parts = options.onlyListed === true ? pkg.parts.filter(({ digest }) => digest !== undefined) : pkg.parts;
    const keepsFiles = options.onlyListed === true && source.kind === 'files' && source.from === 'url';
    const sources = await listPartSources({ ...pkg, parts }, options.location, select ?? (() => true), context, { keepsFiles });
    return { policy: 'package', sources, findings: options.onlyListed === true ? [] : pkg.findings.filter(isUnproven) };
  }
  const layers = listImageLayers(source, context);
  if (layers !== undefined)
    return {
      policy: 'image',
      sources: layers.map((layer, index) => toLayerSource(layer, toLayerLabel(index, layer), source, context)),
      findings: [],
    };
  const pkg = await describeForeign(source, context);
  if (pkg.parts.length > 0 && pkg.parts.every((part) => !part.path.startsWith('layer-')))
    return { policy: 'package', sources: pkg.parts.map(toFileSource), findings: [] };
  throw createError('format/unsupported', {
    message: `Cannot unpack "${options.location}": it is of the kind "${pkg.format}", whose layers name no files`,
    hint: 'See `modelport inspect`; of an index, name one entry as oci:DIR@DIGEST',
  });
}

/** What keeps files from being proven, and files that nothing proves. */
function isUnproven({ level, code }: Finding): boolean {
  return level === 'error' || code === 'carton/unlisted-member';
}

function toLayerSource(descriptor: Descriptor, where: string, { blobs }: OciSource, { limits }: OpsContext): UnpackSource {
  const compression = /[.+](gzip|zstd)$/.exec(descriptor.mediaType)?.[1] as 'gzip' | 'zstd' | undefined;
  const open = async () => {
    const stream = await blobs.open(descriptor);
    return compression === undefined ? stream : decompress(stream, compression, { limits, where });
  };
  return { kind: 'tar', where, open };
}

function toFileSource(part: Part): UnpackSource {
  const { content, path } = part;
  if (content.kind !== 'blob') throw createError('core/bug', { message: 'Cannot happen: a layer of an artifact is no blob' });
  return { kind: 'blob', path, blobs: content.blobs, descriptor: content.descriptor };
}
