import { expectStream, sumSizes } from '../bytes/index.js';
import { openCartonTarget, toCartonTarget } from './carton/carton-target.js';
import { createError, type Description, type Finding, type ModelPackage, type OciPackageSink, type Written } from '../core/index.js';
import { type LayerEncodings, parseLayerEncodings, parseVintage, type Vintage, writeHybridImage, writeModelpack } from '../formats/index.js';
import type { OpsContext } from './context.js';
import { describeFolder, openFolder } from './folder.js';
import { toPartResult } from './inspect.js';
import { assertPackable, type PackOptions, withSettings } from './packable.js';
import { distinct } from './package.js';
import { toAbsolute } from './paths.js';
import type { PackResult } from './results.js';
import { parseSettings } from './settings.js';
import { openTarget, type Target } from './target.js';

/** A folder becomes a package: what was not written down is read from the files, and what was decided is said. */
export async function pack(options: PackOptions, context: OpsContext): Promise<PackResult> {
  if (options.format === 'carton')
    return (await import('./carton/pack-carton.js')).packCarton(options, () => openCartonTarget(options, context), context);
  return packTo(options, () => openTarget(options, context), context);
}

/** The same, to a place of blobs; the target is opened when it is clear that there is something to be packed. */
export async function packTo(options: Omit<PackOptions, 'name' | 'output'>, open: () => Promise<Target>, context: OpsContext): Promise<PackResult> {
  if (options.format === 'carton')
    return (await import('./carton/pack-carton.js')).packCarton(options, async () => toCartonTarget(await open()), context);
  if (options.format !== 'modelpack')
    throw createError('format/unknown', {
      message: `Cannot pack as "${options.format}": there is no such format`,
      hint: 'Formats: modelpack, carton',
    });
  assertNoRunner(options);
  const file = options.file === undefined ? {} : { file: toAbsolute(options.file, context) };
  const folder = await openFolder(toAbsolute(options.dir, context), options.dir, file, context);
  expectStream(sumSizes(folder.tree));
  const described = await describeFolder(folder, context);
  const pkg = withSettings(withTime(described.pkg, context), await parseSettings(options.set ?? [], context));
  assertPackable(pkg, options);
  const write = writeSettings(options, described.description);
  const target = await open();
  try {
    // The image first, as it takes fewer paths; both are whole before either has a name.
    const hybrid = options.hybrid === true ? await writeHybrid(pkg, target, write, context) : undefined;
    const written = await writeModelpack(pkg, toSink(target), { ...write, ...writeContext(context) });
    await target.publish(written.root);
    if (hybrid !== undefined) await target.publish(hybrid.root, hybrid.name);
    await target.finish();
    return toResult(pkg, written, write.vintage, target, hybrid);
  } finally {
    await target.close();
  }
}

function assertNoRunner({ dir, runner, frameworkVersion, opts, compress }: Omit<PackOptions, 'name' | 'output'>): void {
  if (runner === undefined && frameworkVersion === undefined && opts === undefined && compress !== true) return;
  throw createError('ops/bad-option', {
    message: `Cannot pack "${dir}" as a ModelPack with --runner, --framework-version, --opt or --compress: those are about cartons`,
    hint: 'Add --format carton, or leave them out; --layers ROLE=tar+zstd compresses layers',
  });
}

/** The same for every file, so that digests do not depend on when a folder was checked out. */
export function sourceDateEpoch(context: OpsContext): number {
  const text = context.env['SOURCE_DATE_EPOCH'];
  if (text === undefined || text === '') return 0;
  if (!/^\d{1,11}$/.test(text))
    throw createError('ops/bad-option', { message: `Cannot use SOURCE_DATE_EPOCH="${text}": expected seconds since 1970` });
  return Number(text);
}

export function writeContext(context: OpsContext): { mtime: number } & Pick<OpsContext, 'progress' | 'limits' | 'concurrency' | 'signal'> {
  const { progress, limits, concurrency, signal } = context;
  return { mtime: sourceDateEpoch(context), progress, limits, concurrency, ...(signal === undefined ? {} : { signal }) };
}

function withTime(pkg: ModelPackage, context: OpsContext): ModelPackage {
  if (pkg.identity.createdAt !== undefined || !context.env['SOURCE_DATE_EPOCH']) return pkg;
  return { ...pkg, identity: { ...pkg.identity, createdAt: new Date(sourceDateEpoch(context) * 1000).toISOString().replace('.000Z', 'Z') } };
}

interface WriteSettings {
  readonly vintage: Vintage;
  readonly layers: LayerEncodings;
  readonly platform: string;
}

/** Options win over `[format.modelpack]`. */
function writeSettings(options: Pick<PackOptions, 'vintage' | 'layers' | 'platform'>, description: Description): WriteSettings {
  const written = description.format['modelpack'] ?? {};
  const vintage = parseVintage(options.vintage ?? textOf(written['vintage']) ?? 'cncf');
  const words = options.layers !== undefined && options.layers.length > 0 ? options.layers : layerWords(written['layers']);
  return { vintage, layers: parseLayerEncodings(words), platform: options.platform ?? textOf(written['platform']) ?? 'linux/amd64' };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** `layers = "raw"`, or by role `layers = { weights = "raw", doc = "tar" }`. */
function layerWords(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.entries(value).map(([role, encoding]) => `${role}=${String(encoding)}`) : [];
}

interface Hybrid extends Pick<Written, 'root' | 'bytes'> {
  readonly name: string;
}

async function writeHybrid(pkg: ModelPackage, target: Target, write: WriteSettings, context: OpsContext): Promise<Hybrid> {
  const { root, bytes } = await writeHybridImage(pkg, toSink(target), { ...write, ...writeContext(context) });
  return { name: target.name === null ? 'image' : `${target.name}-image`, root, bytes };
}

function toSink(target: Target): OciPackageSink {
  return { kind: 'oci', blobs: target.blobs };
}

function toResult(pkg: ModelPackage, written: Written, vintage: Vintage, target: Target, hybrid: Hybrid | undefined): PackResult {
  const bytes = { ...written.bytes };
  for (const key of ['total', 'sent', 'skipped'] as const) bytes[key] += hybrid?.bytes[key] ?? 0;
  const findings: readonly Finding[] = distinct([...pkg.findings, ...written.findings]);
  return {
    format: 'modelpack',
    vintage,
    digest: written.root.digest,
    name: target.name,
    path: target.path,
    bytes,
    lost: written.lost,
    findings,
    parts: pkg.parts.map(toPartResult),
    ...(hybrid === undefined ? {} : { hybrid: { name: hybrid.name, digest: hybrid.root.digest } }),
  };
}

export type { PackOptions } from './packable.js';
