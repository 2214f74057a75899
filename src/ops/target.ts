import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type BlobSink, createError, type Descriptor, parseLocation, parseReference, toStoreName } from '../core/index.js';
import { createArchive, isLayout, openLayout, openLocalStore, sniffArchive } from '../store/index.js';
import type { OpsContext } from './context.js';
import { toAbsolute } from './paths.js';
import { isRemote, type RemoteReference } from './remote-reference.js';

/** Where a package is written. Nothing is visible under a name before `finish`; always `close`. */
export interface Target {
  readonly blobs: BlobSink;
  /** The name that the person chose, in full; null when there is none. */
  readonly name: string | null;
  /** The folder or file; null for the local store. */
  readonly path: string | null;
  /** `HOST/REPO` of a registry, else null. */
  readonly repository: string | null;
  /** What a package is called here that is called so elsewhere: layouts and archives take names as they are, others keep the tag. */
  toName(name: string): string;
  /** Publishes a root, under a name that `toName` gave or else under the target's own; may be called for several roots. */
  publish(root: Descriptor, name?: string): Promise<void>;
  /** Keeps a root that gets no name, such as what is attached to another package. */
  keep(root: Descriptor): Promise<void>;
  /** Makes everything that was published visible and durable. */
  finish(): Promise<void>;
  /** After `finish` lets go; without it drops what was not finished. */
  close(): Promise<void>;
}

/** What `-t NAME` and `-o PATH` say; throws `ops/bad-option` when neither or both are given. */
export async function openTarget(
  where: { readonly name?: string | undefined; readonly output?: string | undefined },
  context: OpsContext,
): Promise<Target> {
  const { name, output } = where;
  if (output !== undefined) return openOutput(output, name, context);
  if (name !== undefined) return openStoreTarget(name, context);
  throw createError('ops/bad-option', {
    message: 'Cannot write without a target',
    hint: 'Give it a name with -t NAME, or a file or folder with -o PATH',
  });
}

/**
 * A destination that may be a name or a place: something that exists, ends in `.tar` or looks like a path is a place. A name with
 * a host is at a registry, unless names are those of the local store.
 */
export async function openDestination(text: string, context: OpsContext): Promise<Target> {
  const location = parseLocation(text);
  const isName = location.kind === 'name' || (location.kind === 'path-or-name' && !text.endsWith('.tar') && !existsSync(toAbsolute(text, context)));
  if (!isName) return openOutput(text, undefined, context);
  return isRemote(location.reference) && context.network.names !== 'local'
    ? openRemoteTarget(location.reference, text, context)
    : openStoreTarget(text, context);
}

/** A repository of a registry. Blobs are there as soon as they are sent, but nothing names them before the tag does. */
export async function openRemoteTarget(reference: RemoteReference, text: string, context: OpsContext): Promise<Target> {
  const { host, repository, tag } = reference;
  if (reference.digest !== undefined || tag === undefined) throw digestChosen(text);
  const blobs = (await context.registries()).repository(host, repository);
  return {
    blobs,
    name: toStoreName(reference),
    path: null,
    repository: `${host}/${repository}`,
    toName: (name) => toStoreName({ ...reference, tag: toTag(name) }),
    publish: (root, other) => blobs.tag(other === undefined ? tag : toTag(other), root),
    keep: async () => {},
    finish: async () => {},
    close: async () => {},
  };
}

/** The tag in a name of a store or layout, where it may stand alone. */
function toTag(name: string): string {
  return (
    name
      .slice(name.lastIndexOf('/') + 1)
      .split(':')
      .at(name.includes('/') || name.includes(':') ? 1 : 0) ?? 'latest'
  );
}

function digestChosen(text: string): Error {
  return createError('core/bad-reference', { message: `Cannot write to "${text}": a name with a digest cannot be chosen`, hint: 'Write NAME:TAG' });
}

/** The local store; without a name the package is kept by its digest alone. */
export async function openStoreTarget(name: string | undefined, context: OpsContext): Promise<Target> {
  const reference = name === undefined ? undefined : parseReference(name);
  if (name !== undefined && reference?.tag === undefined) throw digestChosen(name);
  const full = reference === undefined ? undefined : toStoreName(reference);
  const store = await openLocalStore(context);
  const lease = await store.lease();
  return {
    blobs: store,
    name: full ?? null,
    path: null,
    repository: null,
    toName: (other) => (reference === undefined ? other : toStoreName({ ...reference, tag: toTag(other) })),
    publish: (root, other) => publishTo(store, root, other ?? full),
    keep: (root) => store.addRoot(root),
    finish: async () => {},
    close: async () => lease.release(),
  };
}

async function openOutput(text: string, name: string | undefined, context: OpsContext): Promise<Target> {
  const location = parseLocation(text);
  if (location.kind === 'http' || location.kind === 'name')
    throw createError('ops/bad-option', { message: `Cannot write to "${text}": expected a file or folder`, hint: 'A name is given with -t' });
  const written = location.path;
  const path = toAbsolute(written, context);
  const tag = ('tag' in location ? location.tag : undefined) ?? (name === undefined ? undefined : toStoreName(parseReference(name)));
  if (location.kind === 'docker-archive' || location.kind === 'oci-archive') return openArchiveTarget(path, location.kind, tag, context);
  if (location.kind === 'oci' || !isArchivePath(path)) return openLayoutTarget(path, tag, context);
  return openArchiveTarget(path, 'oci-archive', tag, context);
}

/** An existing file or a new name that ends in `.tar` is an archive, everything else a layout. */
function isArchivePath(path: string): boolean {
  return existsSync(path) ? !statSync(path).isDirectory() : path.endsWith('.tar');
}

async function openArchiveTarget(
  path: string,
  kind: 'oci-archive' | 'docker-archive',
  tag: string | undefined,
  context: OpsContext,
): Promise<Target> {
  if (existsSync(path) && (statSync(path).isDirectory() || (await sniffArchive(path, context.limits)) === undefined)) {
    throw createError('bytes/exists', {
      message: `Cannot write "${path}": it exists and is no archive`,
      hint: 'Choose another name, or remove it first',
      where: path,
    });
  }
  mkdirSync(dirname(path), { recursive: true });
  const archive = await createArchive(path, kind, context);
  return {
    blobs: archive,
    name: tag ?? null,
    path,
    repository: null,
    toName: (other) => other,
    publish: (root, other) => publishTo(archive, root, other ?? tag),
    keep: (root) => archive.addRoot(root),
    finish: () => archive.commit(),
    close: () => archive.close(),
  };
}

async function openLayoutTarget(path: string, tag: string | undefined, context: OpsContext): Promise<Target> {
  if (existsSync(path) && !(statSync(path).isDirectory() && (isLayout(path) || readdirSync(path).length === 0))) {
    throw createError('bytes/exists', {
      message: `Cannot write "${path}": it exists and is no OCI layout`,
      hint: 'Choose a new folder, or a file that ends in .tar',
      where: path,
    });
  }
  const layout = await openLayout(path, { ...context, create: true });
  const lease = await layout.lease();
  return {
    blobs: layout,
    name: tag ?? null,
    path,
    repository: null,
    toName: (other) => other,
    publish: (root, other) => publishTo(layout, root, other ?? tag),
    keep: (root) => layout.addRoot(root),
    finish: async () => {},
    close: async () => lease.release(),
  };
}

/** A root without a name stands in the index all the same. */
function publishTo(
  place: { tag(name: string, root: Descriptor): Promise<void>; addRoot(root: Descriptor): Promise<void> },
  root: Descriptor,
  name: string | undefined,
): Promise<void> {
  return name === undefined ? place.addRoot(root) : place.tag(name, root);
}
