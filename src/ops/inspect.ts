import { createStreamHash } from '../bytes/index.js';
import { type Digest, type Finding, isToolkitError, type ModelPackage, parseDigest, type Part } from '../core/index.js';
import { fitsHost } from '../formats/index.js';
import { completeWeights } from './complete-weights.js';
import { completeLinked } from './complete-samples.js';
import type { OpsContext } from './context.js';
import { describeMounts } from './mountable.js';
import { distinct, type OpenedPackage, readSource } from './package.js';
import type { InspectResult, PartResult } from './results.js';
import { readHostTriple } from './run/host.js';
import { type OpenedSource, openSource } from './source.js';

export interface InspectOptions {
  readonly location: string;
  /** Also every tensor. */
  readonly tensors?: boolean;
  /** Also digests that have to be computed. */
  readonly digest?: boolean;
  /** Also what is only linked: fetched and hashed, so that it is seen as if it were inside. */
  readonly links?: boolean;
}

/** What a package is, from headers only: manifest, config, and the first bytes of the weight files. */
export async function inspect(options: InspectOptions, context: OpsContext): Promise<InspectResult> {
  const source = await openSource(options.location, context);
  const { pkg, known } = await readPackage(source, options.links === true, isFar(source) ? toFar(context) : context);
  // Of a file at a URL each weight header is a request of its own.
  const looksInto = known && (source.kind !== 'files' || source.from !== 'url' || options.tensors === true);
  const completed = looksInto ? await completeWeights(pkg, context) : { pkg, weightFiles: [] };
  const { format, vintage, identity, weights, capabilities, io, run, extra } = completed.pkg;
  const platform = judgePlatform(pkg);
  const findings = [...completed.pkg.findings, ...(platform === undefined || platform.fits ? [] : [wrongPlatform(platform)])];
  return {
    format,
    ...(vintage === undefined ? {} : { vintage }),
    location: options.location,
    ...(source.kind === 'oci' && source.from !== 'place' ? { from: source.from } : {}),
    digest: source.kind === 'oci' ? source.root.digest : options.digest === true ? await digestFile(source) : null,
    modelHash: pkg.modelHash ?? null,
    identity,
    weights,
    capabilities,
    parts: pkg.parts.map(toPartResult),
    io,
    run,
    encrypted: false,
    extra,
    findings: distinct(findings).map((finding) => (isFar(source) ? toFarFinding(finding, options.location) : finding)),
    ...(platform === undefined ? {} : { platform }),
    ...(pkg.linked === undefined ? {} : { linked: pkg.linked }),
    ...(options.tensors === true ? { tensors: completed.weightFiles.flatMap((file) => file.tensors) } : {}),
    ...(source.kind === 'oci' && pkg.format === 'modelpack' ? { mountable: describeMounts(pkg) } : {}),
  };
}

async function readPackage(source: OpenedSource, links: boolean, context: OpsContext): Promise<Pick<OpenedPackage, 'pkg' | 'known'>> {
  const whole = links && source.kind !== 'folder' ? await completeLinked(source, context) : undefined;
  return readSource(whole === undefined ? source : { ...whole, from: 'folder' }, context);
}

type Platform = NonNullable<InspectResult['platform']>;

/** Undefined for a package that runs anywhere. */
function judgePlatform({ extra }: ModelPackage): Platform | undefined {
  const platforms = extra['requiredPlatforms'];
  if (!Array.isArray(platforms) || platforms.length === 0) return undefined;
  const required = platforms.filter((each) => typeof each === 'string');
  const host = findHostTriple();
  return { required, host, fits: host !== null && fitsHost(required, host) };
}

/** Null on a machine that has no triple: a model can be looked at there all the same. */
function findHostTriple(): string | null {
  try {
    return readHostTriple();
  } catch (error) {
    if (isToolkitError(error, 'runtime/wrong-platform')) return null;
    throw error;
  }
}

function wrongPlatform({ required, host }: Platform): Finding {
  return {
    level: 'warning',
    code: 'runtime/wrong-platform',
    message: `It is made for ${required.join(', ')}, and this is ${host ?? 'a machine without a target triple'}`,
    where: 'required_platforms',
    hint: '`modelport run` and `modelport test` refuse it here unless --any-platform is given',
  };
}

/** Of a package that is one file; a folder has none. */
async function digestFile(source: OpenedSource): Promise<Digest | null> {
  if (source.kind !== 'files' || source.bytes === undefined) return null;
  const { size } = source.bytes;
  const hash = createStreamHash('sha256', size);
  try {
    for await (const chunk of await source.bytes.stream({ start: 0, end: size })) await hash.update(chunk);
    return parseDigest(`sha256:${await hash.digest()}`);
  } finally {
    hash.drop();
  }
}

/** To see the files of a compressed layer all of it has to be fetched: that is done for small ones only. */
const farLayerBytes = 1024 * 1024;

function isFar(source: OpenedSource): boolean {
  return source.kind === 'oci' && source.from === 'registry';
}

function toFar(context: OpsContext): OpsContext {
  const { limits } = context;
  return { ...context, limits: { ...limits, listedLayerBytes: Math.min(limits.listedLayerBytes, farLayerBytes) } };
}

function toFarFinding(finding: Finding, location: string): Finding {
  if (finding.code !== 'modelpack/layer-too-large') return finding;
  return { hint: `\`modelport ls ${location}\` fetches what it can list; \`modelport pull ${location}\` brings all of it here`, ...finding };
}

export function toPartResult(part: Part): PartResult {
  const digest: Digest | null = part.digest ?? null;
  return { role: part.role, path: part.path, ...(part.mediaType === undefined ? {} : { mediaType: part.mediaType }), size: part.size, digest };
}
