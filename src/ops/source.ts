import { existsSync, statSync } from 'node:fs';
import { collect } from '../bytes/index.js';
import { createError, type Descriptor, type FilesSource, type Location, type NamedDescriptor, type OciSource, parseLocation, toStoreName } from '../core/index.js';
import { isLayout, openArchive, openLayout, openLocalStore, type OpenedStore, sniffArchive } from '../store/index.js';
import type { OpsContext } from './context.js';
import { openFolder } from './folder.js';
import { toAbsolute } from './paths.js';

/** A location that has been looked at: bare files, or a store with one root chosen in it. Close it. */
export type OpenedSource = (FilesSource | (OciSource & { readonly store: OpenedStore })) & {
  /** The local store was what answered. */
  readonly fromStore: boolean;
  close(): Promise<void>;
};

/** Location → source. An existing path wins over a name. Throws what tells a person how to go on. */
export async function openSource(text: string, context: OpsContext): Promise<OpenedSource> {
  const location = parseLocation(text);
  switch (location.kind) {
    case 'http':
      throw createError('format/unsupported', { message: `Cannot open "${text}": ModelPacks are not served as single files`, hint: 'Fetch the file, or name the package as HOST/REPO:TAG' });
    case 'oci':
      return chooseRoot(await openLayout(toAbsolute(location.path, context), context), location, text, context);
    case 'oci-archive':
    case 'docker-archive':
      return chooseRoot(await openArchive(toAbsolute(location.path, context), context), location, text, context);
    case 'name':
      return openName(location, context);
    case 'path':
      return openPath(text, location.path, context);
    case 'path-or-name':
      return existsSync(toAbsolute(location.path, context)) ? openPath(text, location.path, context) : openName(location, context);
  }
}

/** Where the names of a location are, without choosing one; undefined for bare files. Close it. */
export async function openStoreOf(text: string, context: OpsContext): Promise<OpenedStore | undefined> {
  const location = parseLocation(text);
  if (location.kind === 'oci') return openLayout(toAbsolute(location.path, context), context);
  if (location.kind === 'oci-archive' || location.kind === 'docker-archive') return openArchive(toAbsolute(location.path, context), context);
  if (location.kind === 'name' || location.kind === 'http') return undefined;
  const path = toAbsolute(location.path, context);
  if (!existsSync(path)) return undefined;
  if (statSync(path).isDirectory()) return isLayout(path) ? openLayout(path, context) : undefined;
  return sniffArchive(path) === undefined ? undefined : openArchive(path, context);
}

async function openPath(text: string, written: string, context: OpsContext): Promise<OpenedSource> {
  const path = toAbsolute(written, context);
  if (!existsSync(path)) throw createError('bytes/not-found', { message: `Cannot open "${text}": there is no such file or folder`, hint: 'A package of the store is named without ./, see `modelport list`', where: path });
  if (!statSync(path).isDirectory()) {
    const kind = sniffArchive(path);
    if (kind !== undefined) return chooseRoot(await openArchive(path, context), { kind }, text, context);
    throw createError('format/unknown', { message: `Cannot open "${text}": it is neither an OCI archive nor a docker archive`, hint: 'For a single weight file, name its folder', where: path });
  }
  if (isLayout(path)) return chooseRoot(await openLayout(path, context), { kind: 'oci' }, text, context);
  return { ...(await openFolder(path, text, context)), fromStore: false, close: async () => {} };
}

async function openName(location: Extract<Location, { kind: 'name' | 'path-or-name' }>, context: OpsContext): Promise<OpenedSource> {
  const store = await openLocalStore(context);
  try {
    const { reference, text } = location;
    const name = toStoreName(reference);
    const named = reference.tag === undefined ? undefined : await store.resolve(name);
    const root = reference.digest === undefined ? named : await findRoot(store, reference.digest);
    if (root === undefined) {
      throw createError('store/name-not-found', {
        message: `Cannot find "${text}": the local store has no ${reference.digest === undefined ? `package "${name}"` : reference.digest}`,
        hint: '`modelport list` shows what is there; a path begins with ./ or /',
      });
    }
    return await toSource(store, root, text, reference.tag === undefined ? undefined : name, true, context);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** By digest: a root of the index, else any manifest that the store holds. */
async function findRoot(store: OpenedStore, digest: Descriptor['digest']): Promise<Descriptor | undefined> {
  const listed = (await store.list()).find((entry) => entry.descriptor.digest === digest);
  return listed?.descriptor ?? store.findBlob(digest);
}

type Choice = { readonly kind: 'oci' | 'oci-archive' | 'docker-archive'; readonly tag?: string; readonly digest?: Descriptor['digest'] };

async function chooseRoot(store: OpenedStore, choice: Choice, text: string, context: OpsContext): Promise<OpenedSource> {
  try {
    const chosen = await chooseNamed(store, choice, text);
    return await toSource(store, chosen.descriptor, text, chosen.name, false, context);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function chooseNamed(store: OpenedStore, choice: Choice, text: string): Promise<NamedDescriptor> {
  const listed = await store.list();
  const { tag, digest } = choice;
  if (digest !== undefined) {
    const descriptor = await findRoot(store, digest);
    if (descriptor !== undefined) return { descriptor };
    throw createError('oci/not-found', { message: `Cannot find ${digest} in "${text}"`, hint: 'Leave @DIGEST out to see what is there' });
  }
  if (tag !== undefined) {
    const descriptor = await store.resolve(tag);
    if (descriptor !== undefined) return { name: tag, descriptor };
    throw createError('store/name-not-found', { message: `Cannot find "${tag}" in "${text}": it holds ${namesOf(listed)}` });
  }
  const [first, ...others] = listed;
  if (first === undefined) throw createError('store/name-not-found', { message: `Cannot open "${text}": it holds no package` });
  if (new Set(listed.map((entry) => entry.descriptor.digest)).size === 1 || others.length === 0) return first;
  throw createError('store/ambiguous', { message: `Cannot choose in "${text}": it holds ${namesOf(listed)}`, hint: 'Write oci:DIR:TAG, oci:DIR@DIGEST or oci-archive:FILE:TAG' });
}

function namesOf(listed: readonly NamedDescriptor[]): string {
  const names = listed.map((entry) => entry.name ?? entry.descriptor.digest);
  const shown = names.slice(0, 8).join(', ');
  return names.length === 0 ? 'nothing' : names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}

async function toSource(store: OpenedStore, root: Descriptor, location: string, name: string | undefined, fromStore: boolean, context: OpsContext): Promise<OpenedSource> {
  const bytes = await collect(await store.open(root), context.limits.manifestBytes, `the manifest of "${location}"`);
  return { kind: 'oci', location, ...(name === undefined ? {} : { name }), root, bytes, blobs: store, store, fromStore, close: () => store.close() };
}
