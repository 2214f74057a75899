import { expectStream } from '../bytes/index.js';
import { createError, type Description, type Finding, hasErrors, type ModelPackage, type OciPackageSink, type Written } from '../core/index.js';
import { type LayerEncodings, parseLayerEncodings, parseVintage, type Vintage, writeHybridImage, writeModelpack } from '../formats/index.js';
import type { OpsContext } from './context.js';
import { describeFolder, openFolder } from './folder.js';
import { applySettings } from './identity-fields.js';
import { toPartResult } from './inspect.js';
import { distinct } from './package.js';
import { toAbsolute } from './paths.js';
import type { PackResult } from './results.js';
import { parseSettings } from './settings.js';
import { openTarget, type Target } from './target.js';

export interface PackOptions {
  readonly dir: string;
  /** Only `modelpack` so far. */
  readonly format: string;
  /** Name in the local store, or inside `output`. */
  readonly name?: string;
  /** File or folder to write. */
  readonly output?: string;
  readonly vintage?: string;
  /** `raw`, or `role=tar+gzip`. */
  readonly layers?: readonly string[];
  /** Also an image-shaped sibling, named `TAG-image`. */
  readonly hybrid?: boolean;
  /** modelport.toml, Modelfile or Kitfile; absent: the one in the folder, if any. */
  readonly file?: string;
  /** `key=value`, over everything that was found. */
  readonly set?: readonly string[];
  /** `os/architecture` of what has an image config. */
  readonly platform?: string;
}

/** A folder becomes a package: what was not written down is read from the files, and what was decided is said. */
export async function pack(options: PackOptions, context: OpsContext): Promise<PackResult> {
  return packTo(options, () => openTarget(options, context), context);
}

/** The same, to wherever; the target is opened when it is clear that there is something to be packed. */
export async function packTo(options: Omit<PackOptions, 'name' | 'output'>, open: () => Promise<Target>, context: OpsContext): Promise<PackResult> {
  if (options.format !== 'modelpack')
    throw createError('format/unknown', { message: `Cannot pack as "${options.format}": there is no such format`, hint: 'Formats: modelpack' });
  const file = options.file === undefined ? {} : { file: toAbsolute(options.file, context) };
  const folder = await openFolder(toAbsolute(options.dir, context), options.dir, file, context);
  expectStream(folder.tree.entries.reduce((sum, entry) => sum + entry.size, 0));
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

function withSettings(pkg: ModelPackage, settings: Parameters<typeof applySettings>[1]): ModelPackage {
  return settings.length === 0 ? pkg : { ...pkg, ...applySettings(pkg, settings) };
}

function assertPackable(pkg: ModelPackage, options: Pick<PackOptions, 'dir'>): void {
  const first = pkg.findings.find((finding) => finding.level === 'error');
  if (first !== undefined) {
    throw createError('ops/refused', {
      message: `Cannot pack "${options.dir}": ${first.message}`,
      where: first.where,
      hint: first.hint ?? 'See `modelport validate` for everything that is wrong',
      findings: pkg.findings.filter((finding) => hasErrors([finding])),
    });
  }
  if (pkg.parts.length === 0)
    throw createError('ops/nothing-to-pack', {
      message: `Cannot pack "${options.dir}": it holds no file`,
      hint: 'Hidden files and what [files] ignore names are left out',
    });
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
