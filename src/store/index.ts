/**
 * store: places on this machine where packages lie: the local store, OCI layouts, OCI and docker archives, memory. Knows digests, names
 * and durability, never what a package means; what is bound for a registry or a format is not its business.
 */
export { type Archive, type ArchiveOptions, openArchive } from './archive-read.js';
export { type ArchiveWriteOptions, type ArchiveWriter, createArchive } from './archive-write.js';
export { clearFileCache, type FileCache, openFileCache, type ReceiveOptions } from './file-cache.js';
export { type LayoutOptions, type LayoutStore, openLayout } from './layout.js';
export type { Lease } from './lease.js';
export { type LocalStoreOptions, openLocalDigests, openLocalStore } from './local-store.js';
export { type ArchiveKind, isLayout, sniffArchive, type SniffedArchive } from './locate.js';
export { markMirror } from './mirror-mark.js';
export { createMemoryRegistryStore } from './memory-registry-store.js';
export { createMemoryStore } from './memory.js';
export { prune, type PruneOptions, type PruneResult } from './prune.js';
export { type LayoutRegistryStore, openRegistryStore } from './registry-store.js';
export { type BadBlob, scrub, type ScrubOptions, type ScrubResult } from './scrub.js';
export { withTree } from './trees.js';
