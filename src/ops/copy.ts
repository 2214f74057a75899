import { createError, type Descriptor, isToolkitError, type NamedDescriptor, parseLocation } from '../core/index.js';
import { copyGraph } from '../oci/index.js';
import { isCartonFile, openCartonDestination } from './carton/carton-target.js';
import { isCarton } from './carton/is-carton.js';
import type { OpsContext } from './context.js';
import { unknownFiles } from './package.js';
import { listReferrers } from './referrers.js';
import { isRemote } from './remote-reference.js';
import type { CopyResult } from './results.js';
import { type OpenedPackageSource, type OpenedSource, openShelf, openSource, type Shelf, type ShelfSource } from './source.js';
import { openDestination, type Target } from './target.js';

export interface CopyOptions {
  readonly source: string;
  readonly destination: string;
  /** Every name that the source holds, under the same names. */
  readonly all?: boolean;
  /** Also what is attached to them: signatures, attestations and the like. */
  readonly referrers?: boolean;
  /** Of a carton: what is linked comes inside. */
  readonly inflate?: boolean;
}

/**
 * Moves packages as they are, byte for byte, between the local store, layouts, archives and registries. A name with a host is at its registry,
 * as source and as destination, unless names are those of the local store.
 */
export async function copy(options: CopyOptions, context: OpsContext): Promise<CopyResult> {
  const target = () => openDestination(options.destination, context);
  if (options.all === true) return copyAll(options, target, context);
  const source = await openCopied(options.source, context);
  if (await becomesOther(source, options, context)) return copyTo(source as OpenedPackageSource, options, context);
  if (source.kind === 'files') throw unknownFiles(source);
  if (source.kind === 'folder')
    throw createError('format/unsupported', {
      message: `Cannot copy "${options.source}": it is a bare folder`,
      hint: 'Pack it: `modelport pack DIR -t NAME`, or -o FILE; `modelport push DIR NAME` sends it to a registry',
    });
  return copySource(source, target, options.referrers === true, context);
}

async function copyTo(source: OpenedPackageSource, { destination, inflate }: CopyOptions, context: OpsContext): Promise<CopyResult> {
  const { copyCarton } = await import('./carton/copy-carton.js');
  return copyCarton(source, () => openCartonDestination(destination, context), inflate === true, context);
}

/** Between artifacts a carton is copied as it is, blob by blob; a file becomes an artifact, and an artifact a file. */
async function becomesOther(source: OpenedSource, { destination, inflate }: CopyOptions, context: OpsContext): Promise<boolean> {
  const changes = source.kind === 'files' || inflate === true || isCartonFile(destination, context);
  return changes && (await isCarton(source));
}

/** What was packed under a name with a host, and never sent, is in the store only: then the way there is said. */
async function openCopied(text: string, context: OpsContext): Promise<OpenedSource> {
  const location = parseLocation(text);
  const isNamed = 'reference' in location && isRemote(location.reference) && (context.network.names ?? 'auto') === 'auto';
  const within = (names: 'local' | 'remote'): OpsContext => ({ ...context, network: { ...context.network, names } });
  if (!isNamed) return openSource(text, context);
  try {
    return await openSource(text, within('remote'));
  } catch (error) {
    const isElsewhere = isToolkitError(error, 'registry/not-found') || isToolkitError(error, 'registry/unreachable');
    if (!isElsewhere || !(await isStored(text, within('local')))) throw error;
    throw createError(error.code, { message: error.message, hint: 'The local store has it: add --local', where: error.where, cause: error });
  }
}

async function isStored(text: string, context: OpsContext): Promise<boolean> {
  return openSource(text, context).then(
    () => true,
    () => false,
  );
}

async function copyAll(options: CopyOptions, open: () => Promise<Target>, context: OpsContext): Promise<CopyResult> {
  const shelf = await openShelf(options.source, context);
  if (shelf === undefined) {
    throw createError('ops/bad-option', {
      message: `Cannot copy all of "${options.source}": it is one package`,
      hint: '--all takes an OCI layout, an archive, or HOST/REPO as source',
    });
  }
  const roots = await shelf.list();
  if (roots.length === 0) throw createError('store/name-not-found', { message: `Cannot copy "${options.source}": it holds no package` });
  return copyRoots({ shelf, roots, keepNames: true, referrers: options.referrers === true }, open, context);
}

/** One package, to the name of the target if that has one. */
export function copySource(source: ShelfSource, open: () => Promise<Target>, referrers: boolean, context: OpsContext): Promise<CopyResult> {
  const root = { ...(source.name === undefined ? {} : { name: source.name }), descriptor: source.root };
  return copyRoots({ shelf: source.shelf, roots: [root], keepNames: false, referrers }, open, context);
}

interface Copying {
  readonly shelf: Shelf;
  readonly roots: readonly NamedDescriptor[];
  /** Several packages keep their names; one takes the name that was written for it. */
  readonly keepNames: boolean;
  readonly referrers: boolean;
}

async function copyRoots({ shelf, roots, keepNames, referrers }: Copying, open: () => Promise<Target>, context: OpsContext): Promise<CopyResult> {
  const target = await open();
  try {
    const bytes = { total: 0, sent: 0, skipped: 0 };
    const copyOne = async (root: Descriptor) => {
      const moved = await copyGraph(root, shelf, target.blobs, context);
      for (const key of ['total', 'sent', 'skipped'] as const) bytes[key] += moved[key];
    };
    const toName = ({ name }: NamedDescriptor) => (name !== undefined && (keepNames || target.name === null) ? target.toName(name) : undefined);
    if (keepNames) assertDistinct(roots, toName);
    for (const root of roots) {
      await copyOne(root.descriptor);
      if (keepNames && root.name === undefined) await target.keep(root.descriptor);
      else await target.publish(root.descriptor, toName(root));
    }
    const attached = referrers ? await listReferrers(roots, shelf, context) : [];
    for (const referrer of attached) {
      await copyOne(referrer);
      await target.keep(referrer);
    }
    await target.finish();
    const copied = roots.map((root) => ({ name: toName(root) ?? (keepNames ? null : target.name), digest: root.descriptor.digest }));
    return {
      digest: (roots[0] as NamedDescriptor).descriptor.digest,
      name: copied[0]?.name ?? null,
      path: target.path,
      ...(target.repository === null ? {} : { repository: target.repository }),
      bytes,
      lost: [],
      copied,
      ...(referrers ? { referrers: attached.map(({ digest, artifactType }) => ({ digest, artifactType: artifactType ?? null })) } : {}),
    };
  } finally {
    await target.close();
  }
}

/** Packages of several repositories may have the same tag, and one repository has each tag once. */
function assertDistinct(roots: readonly NamedDescriptor[], toName: (root: NamedDescriptor) => string | undefined): void {
  const taken = new Map<string, NamedDescriptor>();
  for (const root of roots) {
    const name = toName(root);
    if (name === undefined) continue;
    const before = taken.get(name) ?? root;
    taken.set(name, before);
    if (before.descriptor.digest === root.descriptor.digest) continue;
    throw createError('ops/bad-option', {
      message: `Cannot copy all: "${before.name}" and "${root.name}" would both be "${name}", and they differ`,
      hint: 'Copy them one by one, each to a name of its own',
    });
  }
}
