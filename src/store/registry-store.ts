import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { toIoError } from '../bytes/index.js';
import {
  type BlobClaims,
  type BlobRelay,
  createCounters,
  type Digest,
  type DigestAlgorithm,
  type GrowingBlob,
  isToolkitError,
  type NamedDescriptor,
  type RegistryStore,
  type StoredContent,
  type Upload,
  type UploadStore,
} from '../core/index.js';
import { toBlobFile } from './blob-file.js';
import { createClaims } from './claims.js';
import type { IndexChange } from './index-file.js';
import { withRoots } from './layout-index.js';
import { Layout, type LayoutOptions, type LayoutStore, locateLayout } from './layout.js';
import { toPartial } from './partials.js';
import { type BlobReader, createRelay } from './relay.js';
import { createRootQueue } from './root-queue.js';
import { createUploads } from './uploads.js';

/** A layout that a registry is served from. Others may go on using it meanwhile. */
export interface LayoutRegistryStore extends LayoutStore, RegistryStore {}

/** Opens a layout, also the local store, to be served; nothing is scanned. With `create` a folder that is absent or empty becomes one. Throws `store/not-a-layout`. */
export async function openRegistryStore(dir: string, options: LayoutOptions & { readonly create?: boolean } = {}): Promise<LayoutRegistryStore> {
  return new RegistryLayout(locateLayout(dir, options.create === true), options);
}

class RegistryLayout extends Layout implements LayoutRegistryStore {
  readonly #claims: BlobClaims;
  readonly #uploads: UploadStore;
  readonly #relay: BlobRelay;
  readonly #change: (change: IndexChange) => Promise<void>;

  constructor(path: string, { counters = createCounters(), ...options }: LayoutOptions) {
    super(path, { counters, ...options });
    this.#claims = createClaims(path);
    this.#uploads = createUploads(path, counters);
    this.#change = createRootQueue(this.index);
    this.#relay = createRelay({
      put: (content, given) => this.put(content, given),
      openComing: (digest) => openIfThere(toPartial(path, digest).path),
      openWhole: async (descriptor) => openReader(toBlobFile(path, descriptor)),
    });
  }

  readRoots(): readonly NamedDescriptor[] {
    return this.index.read().entries;
  }

  async changeRoots(change: (roots: readonly NamedDescriptor[]) => readonly NamedDescriptor[]): Promise<void> {
    await this.make();
    await this.#change((index) => withRoots(index, change(index.entries), (descriptor) => void toBlobFile(this.path, descriptor)));
  }

  claim(repository: string, digest: Digest): Promise<void> {
    return this.#claims.claim(repository, digest);
  }

  hasClaim(repository: string, digest: Digest): boolean {
    return this.#claims.hasClaim(repository, digest);
  }

  listClaims(repository: string): readonly Digest[] {
    return this.#claims.listClaims(repository);
  }

  listClaimants(): readonly string[] {
    return this.#claims.listClaimants();
  }

  dropClaim(repository: string, digest: Digest): Promise<boolean> {
    return this.#claims.dropClaim(repository, digest);
  }

  touch(digest: Digest): boolean {
    return this.#claims.touch(digest);
  }

  async beginUpload(repository: string, algorithm: DigestAlgorithm): Promise<Upload> {
    await this.make();
    return this.#uploads.beginUpload(repository, algorithm);
  }

  findUpload(id: string): Promise<Upload | undefined> {
    return this.#uploads.findUpload(id);
  }

  countUploads(): number {
    return this.#uploads.countUploads();
  }

  purgeUploads(ageMs: number): Promise<number> {
    return this.#uploads.purgeUploads(ageMs);
  }

  relay(content: StoredContent, signal?: AbortSignal): Promise<GrowingBlob> {
    return this.#relay.relay(content, signal);
  }
}

async function openIfThere(path: string): Promise<BlobReader | undefined> {
  try {
    return await openReader(path);
  } catch (error) {
    if (isToolkitError(error, 'bytes/not-found')) return undefined;
    throw error;
  }
}

/** Not through a link. */
async function openReader(path: string): Promise<BlobReader> {
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    return {
      read: async (buffer, length, offset) => (await handle.read(buffer, 0, length, offset)).bytesRead,
      close: () => handle.close(),
    };
  } catch (error) {
    throw toIoError(error, 'read', path);
  }
}
