import { existsSync, statSync } from 'node:fs';
import { collect } from '../bytes/index.js';
import {
  type BlobFinder,
  type BlobSource,
  createError,
  type Descriptor,
  type Location,
  type NamedDescriptor,
  type Names,
  type OciSource,
  parseLocation,
  type Reference,
  toStoreName,
} from '../core/index.js';
import { isLayout, openArchive, openLayout, openLocalStore, sniffArchive } from '../store/index.js';
import type { OpsContext } from './context.js';
import { type FolderSource, openFolder } from './folder.js';
import { type FilesPackage, openPackageFile, openPackageUrl, openUnpackedPackage } from './package-file.js';
import { toAbsolute } from './paths.js';
import { isRemote, type RemoteReference } from './remote-reference.js';

/** Where packages are by name and by digest: the local store, a layout, an archive, a repository. */
export type Shelf = BlobSource & BlobFinder & Omit<Names, 'tag'>;

/** A location that has been looked at: a bare folder, a package of files, or a shelf with one root chosen on it. */
export type OpenedSource = FolderSource | OpenedPackageSource;

export type OpenedPackageSource = FilesPackage | ShelfSource;

export interface ShelfSource extends OciSource {
  readonly shelf: Shelf;
  /** What answered: the local store, a registry, or a layout or archive that was named. */
  readonly from: 'store' | 'registry' | 'place';
}

/** Location → source. An existing path wins over a name. Throws what tells a person how to go on. */
export async function openSource(text: string, context: OpsContext): Promise<OpenedSource> {
  const location = parseLocation(text);
  switch (location.kind) {
    case 'http':
      return openPackageUrl(location.url, text, context);
    case 'oci':
      return chooseRoot(await openLayout(toAbsolute(location.path, context), context), location, text, context);
    case 'oci-archive':
    case 'docker-archive':
      return chooseRoot(await openArchive(toAbsolute(location.path, context), { ...context, kind: location.kind }), location, text, context);
    case 'name':
      return openName(location, context);
    case 'path':
      return openPath(text, location.path, context, location.notName);
    case 'path-or-name':
      return existsSync(toAbsolute(location.path, context)) ? openPath(text, location.path, context) : openName(location, context);
  }
}

/** Where the names of a location are, without choosing one; undefined for a name without host, and for bare files. A repository is written without a tag. */
export async function openShelf(text: string, context: OpsContext): Promise<Shelf | undefined> {
  const location = parseLocation(text);
  if (location.kind === 'oci') return openLayout(toAbsolute(location.path, context), context);
  if (location.kind === 'oci-archive' || location.kind === 'docker-archive') return openArchive(toAbsolute(location.path, context), context);
  if (location.kind === 'http') return undefined;
  const path = location.kind === 'name' ? undefined : toAbsolute(location.path, context);
  if (path === undefined || !existsSync(path)) return 'reference' in location ? openRepository(location.reference, context) : undefined;
  if (statSync(path).isDirectory()) return isLayout(path) ? openLayout(path, context) : undefined;
  return (await sniffArchive(path, context.limits)) === undefined ? undefined : openArchive(path, context);
}

async function openRepository(reference: Reference, context: OpsContext): Promise<Shelf | undefined> {
  if (!isRemote(reference) || context.network.names === 'local') return undefined;
  return (await context.registries()).source(reference.host, reference.repository);
}

async function openPath(text: string, written: string, context: OpsContext, notName?: string): Promise<OpenedSource> {
  const path = toAbsolute(written, context);
  if (notName !== undefined && !existsSync(path)) {
    throw createError('core/bad-reference', {
      message: `Cannot open "${text}": there is no such file or folder, and it is no name either. ${notName}`,
    });
  }
  if (!existsSync(path))
    throw createError('bytes/not-found', {
      message: `Cannot open "${text}": there is no such file or folder`,
      hint: 'A package of the store is named without ./, see `modelport list`',
      where: path,
    });
  if (!statSync(path).isDirectory()) {
    const kind = await sniffArchive(path, context.limits);
    if (kind !== undefined && kind !== 'tar') return chooseRoot(await openArchive(path, context), {}, text, context);
    const file = await openPackageFile(path, text, context);
    if (file !== undefined) return file;
    throw createError('format/unknown', {
      message: `Cannot open "${text}": it is neither a zip nor an OCI archive nor a docker archive`,
      hint: 'For a single weight file, name its folder',
      where: path,
    });
  }
  if (isLayout(path)) return chooseRoot(await openLayout(path, context), {}, text, context);
  return (await openUnpackedPackage(path, text, context)) ?? openFolder(path, text, {}, context);
}

async function openName(location: Extract<Location, { kind: 'name' | 'path-or-name' }>, context: OpsContext): Promise<ShelfSource> {
  const { reference, text } = location;
  const where = context.network.names ?? 'auto';
  if (where !== 'remote') {
    const found = await findInStore(reference, text, context);
    if (found !== undefined) return found;
  }
  if (where !== 'local' && isRemote(reference)) return openRemote(reference, text, context);
  const name = toStoreName(reference);
  throw createError('store/name-not-found', {
    message: `Cannot find "${text}": ${where === 'remote' ? 'the name has no host, so that no registry has it' : `the local store has no ${reference.digest ?? `package "${name}"`}`}`,
    hint: '`modelport list` shows what is there; a path begins with ./ or /, and the name of a package at a registry with its host',
  });
}

async function findInStore(reference: Reference, text: string, context: OpsContext): Promise<ShelfSource | undefined> {
  const shelf = await openLocalStore(context);
  const name = toStoreName(reference);
  const root = reference.digest === undefined ? await shelf.resolve(name) : await findRoot(shelf, reference.digest);
  return root === undefined ? undefined : toSource(shelf, root, text, reference.tag === undefined ? undefined : name, 'store', context);
}

/** A package at its registry, or at a mirror of that. By a digest the tag beside it is only a name. */
export async function openRemote(reference: RemoteReference, text: string, context: OpsContext): Promise<ShelfSource> {
  const { host, repository, tag, digest } = reference;
  const shelf = (await context.registries()).source(host, repository);
  const root = digest === undefined ? await shelf.resolve(tag ?? 'latest') : await shelf.findBlob(digest);
  if (root !== undefined) return toSource(shelf, root, text, tag === undefined ? undefined : toStoreName(reference), 'registry', context);
  throw createError('registry/not-found', {
    message: `Cannot find "${text}": ${host} has no ${digest ?? `tag "${tag}"`} in "${repository}"`,
    hint: `\`modelport list ${host}/${repository}\` shows what is there; a private repository hides from those who are not logged in`,
    where: host,
  });
}

/** By digest: a root of the index, else any manifest that is there. */
async function findRoot(shelf: Shelf, digest: Descriptor['digest']): Promise<Descriptor | undefined> {
  const listed = (await shelf.list()).find((entry) => entry.descriptor.digest === digest);
  return listed?.descriptor ?? shelf.findBlob(digest);
}

interface Choice {
  readonly tag?: string;
  readonly digest?: Descriptor['digest'];
}

async function chooseRoot(shelf: Shelf, choice: Choice, text: string, context: OpsContext): Promise<ShelfSource> {
  const chosen = await chooseNamed(shelf, choice, text);
  return toSource(shelf, chosen.descriptor, text, chosen.name, 'place', context);
}

async function chooseNamed(shelf: Shelf, { tag, digest }: Choice, text: string): Promise<NamedDescriptor> {
  if (digest !== undefined) {
    const descriptor = await findRoot(shelf, digest);
    if (descriptor !== undefined) return { descriptor };
    throw createError('oci/not-found', { message: `Cannot find ${digest} in "${text}"`, hint: 'Leave @DIGEST out to see what is there' });
  }
  const listed = await shelf.list();
  if (tag !== undefined) {
    const descriptor = await shelf.resolve(tag);
    if (descriptor !== undefined) return { name: tag, descriptor };
    throw createError('store/name-not-found', {
      message: `Cannot find "${tag}" in "${text}": it holds ${namesOf(listed)}`,
      hint: 'See `modelport list`',
    });
  }
  const [first] = listed;
  if (first === undefined)
    throw createError('store/name-not-found', { message: `Cannot open "${text}": it holds no package`, hint: 'Check the path' });
  if (new Set(listed.map((entry) => entry.descriptor.digest)).size === 1) return first;
  throw createError('store/ambiguous', {
    message: `Cannot choose in "${text}": it holds ${namesOf(listed)}`,
    hint: 'Write oci:DIR:TAG, oci:DIR@DIGEST or oci-archive:FILE:TAG',
  });
}

function namesOf(listed: readonly NamedDescriptor[]): string {
  const names = listed.map((entry) => entry.name ?? entry.descriptor.digest);
  const shown = names.slice(0, 8).join(', ');
  return names.length === 0 ? 'nothing' : names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}

async function toSource(
  shelf: Shelf,
  root: Descriptor,
  location: string,
  name: string | undefined,
  from: ShelfSource['from'],
  context: OpsContext,
): Promise<ShelfSource> {
  const bytes = await collect(await shelf.open(root), context.limits.manifestBytes, `the manifest of "${location}"`);
  return { kind: 'oci', location, ...(name === undefined ? {} : { name }), root, bytes, blobs: shelf, shelf, from };
}
