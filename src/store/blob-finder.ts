import type { Descriptor, Digest } from '../core/index.js';

/** Finds a blob by its digest alone. The media type of what is found is unknown (`application/octet-stream`). */
export interface BlobFinder {
  findBlob(digest: Digest): Promise<Descriptor | undefined>;
}
