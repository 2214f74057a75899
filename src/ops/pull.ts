import { createError } from '../core/index.js';
import { collect, twice } from '../bytes/index.js';
import { parseManifest } from '../oci/index.js';
import { isCartonFile, openCartonTarget, toCartonTarget } from './carton/carton-target.js';
import { isCarton } from './carton/is-carton.js';
import { asTask, type OpsContext } from './context.js';
import { copySource } from './copy.js';
import { parseRemote } from './remote-reference.js';
import type { PullResult } from './results.js';
import { openRemote, openSource, type ShelfSource } from './source.js';
import { openStoreTarget } from './target.js';
import { type UnpackOptions, unpackOpened } from './unpack.js';

export interface PullOptions extends Omit<UnpackOptions, 'location' | 'output'> {
  /** `HOST/REPO[:TAG][@DIGEST]` */
  readonly name: string;
  /** A folder for the files; absent: the package is kept in the local store. */
  readonly output?: string;
  /** Also what is attached to the package; into the local store only. */
  readonly referrers?: boolean;
  /** Of a carton that becomes one file: what is linked comes inside. */
  readonly inflate?: boolean;
}

/** Fetches a package: into the local store, or its files straight to their place, each byte written once. Goes on where an earlier run stopped. */
export async function pull(options: PullOptions, given: OpsContext): Promise<PullResult> {
  const context = asTask(given, 'pull');
  assertMeaningful(options, context);
  const reference = parseRemote(options.name, 'pull');
  const source = await openRemote(reference, options.name, context);
  const becomesCarton = options.output === undefined ? options.inflate === true : isCartonFile(options.output, context);
  if (becomesCarton && (await isCarton(source))) return pullCarton(source, options, context);
  if (options.output === undefined) return keep(source, options, context);
  if (options.shared === true) {
    const kept = await keep(source, options, context);
    const { path, files, findings } = await unpackOpened(
      await openSource(options.name, inStore(context)),
      { ...options, location: options.name, output: options.output },
      context,
    );
    return { ...kept, path, files, findings };
  }
  if (options.include === undefined && options.exclude === undefined) await proveConfig(source, context);
  const { path, files, bytes, findings } = await unpackOpened(source, { ...options, location: options.name, output: options.output }, context);
  return {
    digest: source.root.digest,
    name: source.name ?? null,
    path,
    files,
    bytes: { total: bytes, sent: bytes, skipped: 0 },
    lost: [],
    copied: [],
    findings,
  };
}

/** One file, or with everything inside into the local store. */
async function pullCarton(source: ShelfSource, options: PullOptions, context: OpsContext): Promise<PullResult> {
  const { name, output, include = [], exclude = [], sameOwner, shared } = options;
  if (include.length + exclude.length > 0 || sameOwner === true || shared === true)
    throw createError('ops/bad-option', {
      message: `Cannot pull "${name}" into one file with --include, --exclude, --same-owner or --shared: those are about files in a folder`,
      hint: 'Leave them out, or name a folder with -o',
    });
  const open = async () =>
    output === undefined ? toCartonTarget(await openStoreTarget(source.name, context)) : openCartonTarget({ output }, context);
  const { copyCarton } = await import('./carton/copy-carton.js');
  return { ...(await copyCarton(source, open, options.inflate === true, context)), findings: [] };
}

/** What would be passed over in silence is refused. */
function assertMeaningful(options: PullOptions, { network }: OpsContext): void {
  const { name, output, include = [], exclude = [], overwrite, sameOwner, shared, referrers } = options;
  const refuse = (reason: string, hint: string) => createError('ops/bad-option', { message: `Cannot pull "${name}": ${reason}`, hint });
  if (network.names === 'local')
    throw refuse('--local keeps to the local store', `\`modelport unpack --local ${name} -o DIR\` takes the files out of the store`);
  const ofFiles = include.length + exclude.length > 0 || overwrite === true || sameOwner === true || shared === true;
  if (output === undefined && ofFiles)
    throw refuse('--include, --exclude, --overwrite, --same-owner and --shared are about files, and there is no folder for them', 'Add -o DIR');
  if (output !== undefined && shared !== true && referrers === true)
    throw refuse('--referrers is about the local store, and -o writes files only', 'Pull without -o, then unpack; or add --shared');
}

function inStore(context: OpsContext): OpsContext {
  return { ...context, network: { ...context.network, names: 'local' } };
}

/** Its files do not need it; a whole package whose config is not what its manifest promises is damaged all the same. */
async function proveConfig(source: ShelfSource, { limits }: OpsContext): Promise<void> {
  const parsed = parseManifest(source.bytes, source.location, limits);
  if (parsed.kind === 'index') return;
  const { config } = parsed.manifest;
  await twice(async () => collect(await source.blobs.open(config), limits.configBytes, 'the config'));
}

async function keep(source: ShelfSource, options: PullOptions, context: OpsContext): Promise<PullResult> {
  const copied = await copySource(source, () => openStoreTarget(source.name, context), options.referrers === true, context);
  return { ...copied, findings: [] };
}
