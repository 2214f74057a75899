import { createError, type Digest } from '../core/index.js';
import { toCartonTarget } from './carton/carton-target.js';
import { isCarton } from './carton/is-carton.js';
import { asTask, type OpsContext } from './context.js';
import { copySource } from './copy.js';
import { type PackOptions, packTo } from './pack.js';
import { unknownFiles } from './package.js';
import { parseRemote, type RemoteReference } from './remote-reference.js';
import type { CopyResult, PushResult } from './results.js';
import { type OpenedPackageSource, openSource } from './source.js';
import { openRemoteTarget, type Target } from './target.js';

export interface PushOptions extends Omit<PackOptions, 'dir' | 'name' | 'output' | 'format'> {
  /** A folder, which is packed on its way, or a package of the local store, a layout or an archive. */
  readonly source: string;
  /** `HOST/REPO[:TAG]`; absent: the name of the source. */
  readonly destination?: string;
  readonly format?: string;
  /** Also what is attached to the package. */
  readonly referrers?: boolean;
  /** Of a carton: what is linked comes inside. */
  readonly inflate?: boolean;
}

/** Sends a package to a registry. What the registry has is not sent again; of a folder nothing is kept here. */
export async function push(options: PushOptions, given: OpsContext): Promise<PushResult> {
  const context = asTask(given, 'push');
  const here: OpsContext = { ...context, network: { ...context.network, names: 'local' } };
  const source = await openSource(options.source, here);
  const name = options.destination ?? (source.kind === 'oci' ? (source.name ?? options.source) : undefined);
  if (name === undefined) {
    throw createError('ops/bad-option', {
      message: `Cannot push "${options.source}": it is not said where to`,
      hint: `Name it as HOST/REPO:TAG: \`modelport push ${options.source} registry.example.com/team/model:1.0\``,
    });
  }
  const reference = parseRemote(name, 'push to');
  const target = () => openRemoteTarget(reference, name, context);
  if (source.kind === 'folder')
    return toResult(await packTo({ ...options, dir: options.source, format: options.format ?? 'modelpack' }, target, context), reference);
  assertNothingToPack(options);
  if ((source.kind === 'files' || options.inflate === true) && (await isCarton(source)))
    return toResult(await sendCarton(source, target, options.inflate === true, context), reference);
  if (source.kind === 'files') throw unknownFiles(source);
  return toResult(await copySource(source, target, options.referrers === true, context), reference);
}

async function sendCarton(source: OpenedPackageSource, target: () => Promise<Target>, inflate: boolean, context: OpsContext): Promise<CopyResult> {
  const { copyCarton } = await import('./carton/copy-carton.js');
  return copyCarton(source, async () => toCartonTarget(await target()), inflate, context);
}

/** What is at a registry has a digest. */
function toResult<R extends { readonly digest: Digest | null }>({ digest, ...result }: R, reference: RemoteReference) {
  if (digest === null) throw createError('core/bug', { message: 'Cannot happen: what was pushed has no digest' });
  return { ...result, digest, pushed: toPushed(reference) };
}

function toPushed({ host, repository, tag }: RemoteReference): PushResult['pushed'] {
  return { host, repository, tag: tag ?? 'latest' };
}

/** A finished package is sent as it is. */
function assertNothingToPack({ source, vintage, layers, set, file, hybrid, runner, frameworkVersion, opts }: PushOptions): void {
  if ([vintage, layers, set, file, runner, frameworkVersion, opts].every((each) => each === undefined) && hybrid !== true) return;
  throw createError('ops/bad-option', {
    message: `Cannot change "${source}" on its way: it is a package already`,
    hint: '`modelport convert` writes another vintage, `modelport edit` a changed copy; both can write to a registry',
  });
}
