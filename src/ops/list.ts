import { type Descriptor, isToolkitError, type NamedDescriptor } from '../core/index.js';
import { detectFormat } from '../formats/index.js';
import { walkGraph } from '../oci/index.js';
import { openLocalStore, type OpenedStore } from '../store/index.js';
import type { OpsContext } from './context.js';
import { describeForeign } from './foreign.js';
import type { ListResult } from './results.js';
import { openStoreOf } from './source.js';
import { createError, type OciSource } from '../core/index.js';
import { collect } from '../bytes/index.js';

export interface ListOptions {
  /** A layout or archive; absent: the local store. */
  readonly location?: string;
}

/** What is in the local store, a layout or an archive, by name. Reads manifests and configs only. */
export async function list(options: ListOptions, context: OpsContext): Promise<ListResult> {
  const store = options.location === undefined ? await openLocalStore(context) : await openStoreOf(options.location, context);
  if (store === undefined) {
    throw createError('store/not-a-layout', { message: `Cannot list "${options.location}": it is neither an OCI layout nor an archive`, hint: 'Without a location the local store is listed' });
  }
  try {
    const packages: ListResult['packages'][number][] = [];
    for (const entry of await store.list()) packages.push(await describeEntry(entry, store, context));
    return { packages: packages.toSorted((a, b) => ((a.name ?? a.digest) < (b.name ?? b.digest) ? -1 : 1)), next: null };
  } finally {
    await store.close();
  }
}

/** A broken entry is listed as such, so that one can see and remove it. */
async function describeEntry({ name, descriptor }: NamedDescriptor, store: OpenedStore, context: OpsContext): Promise<ListResult['packages'][number]> {
  const base = { name: name ?? null, digest: descriptor.digest };
  try {
    const bytes = await collect(await store.open(descriptor), context.limits.manifestBytes, 'the manifest');
    const source: OciSource = { kind: 'oci', location: name ?? descriptor.digest, root: descriptor, bytes, blobs: store };
    const detected = await detectFormat(source);
    const pkg = detected === undefined ? await describeForeign(source, context) : await detected.reader.read(source, { limits: context.limits });
    const size = await sizeOf(descriptor, store, context);
    return { ...base, format: pkg.format, ...(pkg.vintage === undefined ? {} : { vintage: pkg.vintage }), size, createdAt: pkg.identity.createdAt ?? null };
  } catch (error) {
    if (!isToolkitError(error)) throw error;
    return { ...base, format: 'damaged', size: descriptor.size, createdAt: null };
  }
}

/** Each blob once, however often it is named. */
async function sizeOf(root: Descriptor, store: OpenedStore, context: OpsContext): Promise<number> {
  const sizes = new Map<string, number>();
  for await (const node of walkGraph(root, store, { limits: context.limits })) {
    for (const { digest, size } of [node.descriptor, ...node.leaves.map((leaf) => leaf.descriptor)]) sizes.set(digest, size);
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
