import type { BlobClaims, Descriptor, Digest, NamedDescriptor, RegistryStore, RootList } from '../core/index.js';
import { mediaTypes } from '../oci/index.js';
import { judgeRepository } from './judge-repository.js';
import { createMemoryBlobs, type MemoryBlobs } from './memory-blobs.js';
import { createMemoryUploads } from './memory-uploads.js';
import { type BlobReader, createRelay } from './relay.js';

/** What a registry is served from that is gone with the process, for tests and small things: every blob is held in memory. */
export function createMemoryRegistryStore(): RegistryStore {
  const blobs = createMemoryBlobs();
  const roots = createMemoryRoots(blobs);
  const { claims, add } = createMemoryClaims(blobs);
  const keep = (repository: string, digest: Digest, bytes: Uint8Array) => {
    const fresh = !blobs.bytes.has(digest);
    blobs.bytes.set(digest, bytes);
    add(repository, digest);
    return fresh;
  };
  const openWhole = async (descriptor: Descriptor) => toReader(blobs.read(descriptor));
  const change = (name: string, descriptor: Descriptor) => (all: readonly NamedDescriptor[]) => [
    ...all.filter((root) => root.name !== name),
    { name, descriptor },
  ];
  return {
    ...blobs.place,
    findBlob: async (digest) => {
      const size = blobs.bytes.get(digest)?.byteLength;
      return size === undefined ? undefined : { mediaType: mediaTypes.octetStream, digest, size };
    },
    ...roots,
    resolve: async (name) => roots.readRoots().findLast((root) => root.name === name)?.descriptor,
    tag: (name, descriptor) => roots.changeRoots(change(name, descriptor)),
    list: async () => listLast(roots.readRoots()),
    ...claims,
    ...createMemoryUploads(keep),
    // Nobody collects here.
    lease: async () => ({ release: () => {} }),
    ...createRelay({ put: (content, options) => blobs.place.put(content, options), openComing: async () => undefined, openWhole }),
  };
}

/** Of several roots with one name the last counts. */
function listLast(roots: readonly NamedDescriptor[]): NamedDescriptor[] {
  const last = new Map(roots.map((root) => [root.name, root]));
  return roots.filter((root) => root.name === undefined || last.get(root.name) === root);
}

function createMemoryRoots(blobs: MemoryBlobs): RootList {
  let roots: readonly NamedDescriptor[] = [];
  return {
    readRoots: () => roots,
    changeRoots: async (change) => {
      const after = change(roots);
      const known = new Set(roots);
      for (const root of after) if (!known.has(root)) blobs.read(root.descriptor);
      roots = after;
    },
  };
}

function createMemoryClaims({ bytes }: MemoryBlobs): { readonly claims: BlobClaims; readonly add: (repository: string, digest: Digest) => void } {
  const claimed = new Map<string, Set<Digest>>();
  const has = (repository: string, digest: Digest) => claimed.get(judgeRepository(repository))?.has(digest) === true && bytes.has(digest);
  const add = (repository: string, digest: Digest) => {
    const digests = claimed.get(judgeRepository(repository)) ?? new Set();
    claimed.set(repository, digests.add(digest));
  };
  const drop = (repository: string, digest: Digest) => {
    const digests = claimed.get(judgeRepository(repository));
    const isDropped = digests?.delete(digest) === true;
    if (digests?.size === 0) claimed.delete(repository);
    return isDropped;
  };
  const claims: BlobClaims = {
    claim: async (repository, digest) => add(repository, digest),
    hasClaim: has,
    listClaims: (repository) => [...(claimed.get(judgeRepository(repository)) ?? [])].filter((digest) => bytes.has(digest)),
    listClaimants: () => [...claimed.keys()],
    dropClaim: async (repository, digest) => drop(repository, digest),
    touch: (digest) => bytes.has(digest),
  };
  return { claims, add };
}

function toReader(bytes: Uint8Array): BlobReader {
  return {
    read: async (buffer, length, offset) => {
      const part = bytes.subarray(offset, offset + length);
      buffer.set(part);
      return part.byteLength;
    },
    close: async () => {},
  };
}
