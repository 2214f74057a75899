import { existsSync } from 'node:fs';
import { collect, mapConcurrent } from '../bytes/index.js';
import { createError, type Descriptor, isToolkitError, type NamedDescriptor, type OciSource, parseLocation } from '../core/index.js';
import { detectFormat } from '../formats/index.js';
import { walkGraph } from '../oci/index.js';
import { openLocalStore } from '../store/index.js';
import type { OpsContext } from './context.js';
import { nameForeign } from './foreign.js';
import { toAbsolute } from './paths.js';
import { isRemote, type RemoteReference } from './remote-reference.js';
import type { ListResult } from './results.js';
import { openShelf, type Shelf } from './source.js';

type ListedPackage = ListResult['packages'][number];

export interface ListOptions {
  /** A layout or archive, `HOST/REPO`, or `HOST`; absent: the local store. */
  readonly location?: string;
}

/** What is in the local store, a layout, an archive or a repository, by name. Reads manifests and configs only. */
export async function list(options: ListOptions, context: OpsContext): Promise<ListResult> {
  const { location } = options;
  if (location === undefined && context.network.names === 'remote')
    throw createError('ops/bad-option', {
      message: 'Cannot list with --remote: it is not said which registry',
      hint: 'HOST lists the repositories of a registry, HOST/REPO the tags of one',
    });
  if (location === undefined) return listShelf(await openLocalStore(context), (name) => name, context);
  const reference = findRepository(location, context);
  if (reference !== undefined && context.network.names === 'local')
    throw createError('ops/bad-option', {
      message: `Cannot list "${location}" with --local: it is a place at a registry`,
      hint: 'Without a location the local store is listed',
    });
  if (reference === 'host') return listCatalog(location, context);
  const shelf = await openShelf(location, context);
  if (shelf !== undefined && reference !== undefined) return listRepository(shelf, reference, context);
  if (shelf !== undefined) return listShelf(shelf, (name) => name, context);
  throw createError('store/not-a-layout', {
    message: `Cannot list "${location}": it is neither an OCI layout nor an archive nor at a registry`,
    hint: 'Without a location the local store is listed, HOST/REPO lists the tags of a repository',
  });
}

/** `host` for a registry as a whole, which no name is; undefined for what is not at a registry. */
function findRepository(text: string, context: OpsContext): RemoteReference | 'host' | undefined {
  if (existsSync(toAbsolute(text, context))) return undefined;
  if (/^(localhost|[a-z0-9-]+(\.[a-z0-9-]+)+|\[[0-9a-f:]+\])(:\d+)?$|^[a-z0-9-]+:\d+$/i.test(text)) return 'host';
  const location = parseLocation(text);
  return 'reference' in location && isRemote(location.reference) ? location.reference : undefined;
}

/** Many registries, Docker Hub and ghcr.io among them, keep their repositories to themselves. */
async function listCatalog(host: string, context: OpsContext): Promise<ListResult> {
  const repositories: string[] = [];
  try {
    for await (const repository of (await context.registries()).listRepositories(host)) repositories.push(repository);
  } catch (error) {
    if (!isToolkitError(error, 'registry/not-found') && !isToolkitError(error, 'registry/unsupported')) throw error;
    throw createError('registry/unsupported', {
      message: `Cannot list the repositories of ${host}: it does not tell them`,
      hint: `\`modelport list ${host}/REPO\` lists the tags of one`,
      where: host,
      cause: error,
    });
  }
  return { packages: [], repositories: repositories.sort(), next: null };
}

async function listRepository(shelf: Shelf, { host, repository }: RemoteReference, context: OpsContext): Promise<ListResult> {
  try {
    return await listShelf(shelf, (tag) => `${host}/${repository}:${tag}`, context);
  } catch (error) {
    if (!isToolkitError(error, 'registry/not-found')) throw error;
    throw createError('registry/not-found', {
      message: `Cannot list "${host}/${repository}": ${host} has no such repository`,
      hint: `\`modelport list ${host}\` shows those that it tells of; a private one hides from those who are not logged in`,
      where: host,
      cause: error,
    });
  }
}

async function listShelf(shelf: Shelf, toName: (name: string) => string, context: OpsContext): Promise<ListResult> {
  const packages = await mapConcurrent(await shelf.list(), context.concurrency, (entry) => describeEntry(entry, shelf, context));
  const named = packages.map((row) => ({ ...row, name: row.name === null ? null : toName(row.name) }));
  return { packages: named.toSorted((a, b) => ((a.name ?? a.digest) < (b.name ?? b.digest) ? -1 : 1)), next: null };
}

/** A broken entry is listed as such, so that one can see and remove it. */
async function describeEntry({ name, descriptor }: NamedDescriptor, shelf: Shelf, context: OpsContext): Promise<ListedPackage> {
  const base = { name: name ?? null, digest: descriptor.digest };
  try {
    const bytes = await collect(await shelf.open(descriptor), context.limits.manifestBytes, 'the manifest');
    const source: OciSource = { kind: 'oci', location: name ?? descriptor.digest, root: descriptor, bytes, blobs: shelf };
    const detected = await detectFormat(source);
    const size = await sizeOf(descriptor, shelf, context);
    if (detected === undefined) return { ...base, format: nameForeign(source, context), size, createdAt: null };
    const { identity, weights } = await detected.reader.readSummary(source, { limits: context.limits });
    return {
      ...base,
      format: detected.reader.id,
      ...(detected.vintage === undefined ? {} : { vintage: detected.vintage }),
      ...(weights.paramSize === undefined ? {} : { parameters: weights.paramSize }),
      size,
      createdAt: identity.createdAt ?? null,
    };
  } catch (error) {
    if (!isToolkitError(error)) throw error;
    return { ...base, format: 'damaged', size: descriptor.size, createdAt: null };
  }
}

/** Each blob once, however often it is named. */
async function sizeOf(root: Descriptor, shelf: Shelf, context: OpsContext): Promise<number> {
  const sizes = new Map<string, number>();
  for await (const node of walkGraph(root, shelf, { limits: context.limits })) {
    for (const { digest, size } of [node.descriptor, ...node.leaves.map((leaf) => leaf.descriptor)]) sizes.set(digest, size);
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
