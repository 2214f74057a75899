import { createError, type Finding, type ModelPackage, type OciSource, type Written } from '../core/index.js';
import { canRestamp, judgeRestamp, listLayers, parseVintage, restamp, type Vintage, writeModelpack } from '../formats/index.js';
import type { OpsContext } from './context.js';
import { writeContext } from './pack.js';
import { distinct, openPackage } from './package.js';
import type { ConvertResult } from './results.js';
import { openDestination, type Target } from './target.js';

export interface ConvertOptions {
  readonly source: string;
  readonly destination: string;
  /** Only `modelpack` so far. */
  readonly format: string;
  readonly vintage?: string;
  /** Say what would be lost and write nothing. */
  readonly dryRun?: boolean;
  /** Refuse before writing when warnings or errors would be lost. */
  readonly failOnLoss?: boolean;
}

/**
 * The same package in another vintage. Between `cncf` and `cnai` only config and manifest are written anew and no blob is touched;
 * to or from the draft the layers are framed anew.
 */
export async function convert(options: ConvertOptions, context: OpsContext): Promise<ConvertResult> {
  if (options.format !== 'modelpack')
    throw createError('format/unknown', { message: `Cannot convert to "${options.format}": there is no such format`, hint: 'Formats: modelpack' });
  const vintage = parseVintage(options.vintage ?? 'cncf');
  const { source, pkg, known } = await openPackage(options.source, context);
  if (source.kind === 'folder')
    throw createError('format/unsupported', {
      message: `Cannot convert "${options.source}": it is a bare folder`,
      hint: `Pack it: \`modelport pack ${options.source} --vintage ${vintage} -t NAME\``,
    });
  if (source.kind === 'files' || pkg.format !== 'modelpack')
    throw createError('format/unsupported', {
      message: `Cannot convert "${options.source}": it is a ${pkg.format}, and only ModelPacks are converted so far`,
      hint: '`modelport unpack`, then `modelport pack`',
    });
  if (!known)
    throw createError('format/unsupported', {
      message: `Cannot convert "${options.source}": it is an ${pkg.format}, not a model package`,
      hint: '`modelport inspect` says what it is',
    });
  const lost = lossesBetween(pkg, vintage);
  const findings = canRestamp(source, vintage, context.limits) ? judgeRestamp(source, vintage, context.limits) : [];
  const base = { format: 'modelpack', vintage, lost, findings, name: null, path: null, copied: [], bytes: { total: 0, sent: 0, skipped: 0 } };
  if (options.failOnLoss === true && lost.some((finding) => finding.level !== 'note')) {
    throw createError('ops/refused', {
      message: `Cannot convert "${options.source}" without loss: ${lost[0]?.message ?? ''}`,
      hint: 'Leave --fail-on-loss out to accept it',
      findings: lost,
    });
  }
  context.announce([...lost, ...findings]);
  if (options.dryRun === true) return { ...base, digest: source.root.digest, dryRun: true };
  const target = await openDestination(options.destination, context);
  try {
    const written = await writeConverted(source, pkg, vintage, target, context);
    await target.publish(written.root);
    await target.finish();
    const copied = [{ name: target.name, digest: written.root.digest }];
    return {
      ...base,
      digest: written.root.digest,
      name: target.name,
      path: target.path,
      bytes: written.bytes,
      findings: distinct([...findings, ...written.findings]),
      copied,
      dryRun: false,
    };
  } finally {
    await target.close();
  }
}

async function writeConverted(
  source: OciSource,
  pkg: ModelPackage,
  vintage: Vintage,
  target: Target,
  context: OpsContext,
): Promise<Pick<Written, 'root' | 'bytes' | 'findings'>> {
  if (!canRestamp(source, vintage, context.limits)) {
    return writeModelpack(
      pkg,
      { kind: 'oci', blobs: target.blobs },
      { ...writeContext(context), vintage, layers: { byRole: {} }, platform: 'linux/amd64' },
    );
  }
  const bytes = await sendLayers(source, target, context);
  return { root: await restamp(source, vintage, target.blobs, context.limits), findings: [], bytes };
}

/** The layers as they are; where the target has them, nothing moves. */
export async function sendLayers(
  source: OciSource,
  target: Pick<Target, 'blobs'>,
  context: OpsContext,
  wanted?: readonly { digest: string }[],
): Promise<Written['bytes']> {
  const bytes = { total: 0, sent: 0, skipped: 0 };
  for (const descriptor of listLayers(source, context.limits)) {
    if (wanted !== undefined && !wanted.some((each) => each.digest === descriptor.digest)) continue;
    const { digest, size } = descriptor;
    const item = context.progress.start('copy', digest, size);
    const content = { kind: 'blob', blobs: source.blobs, descriptor } as const;
    const stored = await target.blobs.put(content, { expected: { digest, size }, progress: item, signal: context.signal });
    item.done(stored.fresh ? 'done' : 'skipped');
    bytes.total += size;
    bytes[stored.fresh ? 'sent' : 'skipped'] += size;
  }
  return bytes;
}

/** What the target vintage has no place for: the draft knows neither capabilities nor dataset links. */
function lossesBetween(pkg: ModelPackage, vintage: Vintage): Finding[] {
  if (vintage !== 'draft-2024') return [];
  const dropped: [string, boolean][] = [
    ['identity.datasets', (pkg.identity.datasets?.length ?? 0) > 0],
    ['capabilities', Object.keys(pkg.capabilities).length > 0],
  ];
  return dropped
    .filter(([, present]) => present)
    .map(([field]) => ({ level: 'warning', code: 'modelpack/no-place', message: `The draft has no place for ${field}`, where: field }));
}
