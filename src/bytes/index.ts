/**
 * bytes: streams, hashing while streaming, archives, compression, the one judge of paths, and writing that survives a crash.
 * Knows nothing of models or formats.
 */
export * from './build-blob.js';
export * from './clone-file.js';
export * from './compression/compression.js';
export { decodeContent } from './compression/content-encoding.js';
export * from './concurrent.js';
export * from './content.js';
export * from './durable.js';
export * from './escape-for-display.js';
export { fetchBlob } from './fetch-blob.js';
export * from './file-identity.js';
export { openFileRanges } from './file-ranges.js';
export { withFolderLock } from './folder-lock.js';
export * from './folder-tree.js';
export { type StackedLayers, stackLayers } from './unpack/layer-stack.js';
export { removeLeftovers } from './unpack/leftovers.js';
export { isLocked, type LockOptions, withLock } from './lock.js';
export { mediaHeadBytes, sniffMedia } from './media/sniff-media.js';
export * from './os-error.js';
export * from './owner.js';
export * from './part-content.js';
export { PartialFile } from './partial-file.js';
export { findTwins } from './path-twins.js';
export { pump } from './pump.js';
export { judgePath, normalizeEntryName, portabilityOf } from './safe-path.js';
export { type BufferLoan, lendBuffers } from './threads/buffer-loan.js';
export { allocateRing, createStreamHash, expectStream, lastChunk, type StreamHash } from './threads/stream-hash.js';
export * from './streams.js';
export * from './tar/tar-read.js';
export * from './tar/tar-scan.js';
export { tarHeader } from './tar/tar-write.js';
export { judgeTarget } from './unpack/judge-target.js';
export * from './unpack/shared-tree.js';
export { twice } from './twice.js';
export * from './unpack/unpack-source.js';
export * from './unpack/unpack.js';
export { createZip } from './zip/create-zip.js';
export { openZip } from './zip/open-zip.js';
export type { ZipTree } from './zip/zip-entry.js';
export type { ZipMember } from './zip/zip-member.js';
