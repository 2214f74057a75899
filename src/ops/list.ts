import { collect } from '../bytes/index.js';
import { createError, type Descriptor, isToolkitError, type NamedDescriptor, type OciSource } from '../core/index.js';
import { detectFormat } from '../formats/index.js';
import { walkGraph } from '../oci/index.js';
import { openLocalStore } from '../store/index.js';
import type { OpsContext } from './context.js';
import { nameForeign } from './foreign.js';
import type { ListResult } from './results.js';
import { openShelf, type Shelf } from './source.js';

type ListedPackage = ListResult['packages'][number];

export interface ListOptions {
  /** A layout or archive; absent: the local store. */
  readonly location?: string;
}

/** What is in the local store, a layout or an archive, by name. Reads manifests and configs only. */
export async function list(options: ListOptions, context: OpsContext): Promise<ListResult> {
  const shelf = options.location === undefined ? await openLocalStore(context) : await openShelf(options.location, context);
  if (shelf === undefined) {
    throw createError('store/not-a-layout', {
      message: `Cannot list "${options.location}": it is neither an OCI layout nor an archive`,
      hint: 'Without a location the local store is listed',
    });
  }
  const packages: ListedPackage[] = [];
  for (const entry of await shelf.list()) packages.push(await describeEntry(entry, shelf, context));
  return { packages: packages.toSorted((a, b) => ((a.name ?? a.digest) < (b.name ?? b.digest) ? -1 : 1)), next: null };
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
    const { createdAt = null } = await detected.reader.readIdentity(source, { limits: context.limits });
    return { ...base, format: detected.reader.id, ...(detected.vintage === undefined ? {} : { vintage: detected.vintage }), size, createdAt };
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
