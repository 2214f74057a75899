import { join } from 'node:path';
import { type Digest, isDigest, parseDigest, splitDigest } from '../core/index.js';

/** Where a layout keeps a blob. The digest is judged here once more, before it becomes a path. */
export function toBlobPath(layout: string, digest: Digest): string {
  const { algorithm, hex } = splitDigest(parseDigest(digest));
  return join(layout, 'blobs', algorithm, hex);
}

/** Where an archive keeps it. */
export function toMemberPath(digest: Digest): string {
  return `blobs/${digest.replace(':', '/')}`;
}

/** Member name of an archive or path inside a layout → digest; undefined for everything that is not a blob. */
export function findBlobDigest(name: string): Digest | undefined {
  const match = /^(?:\.\/)?blobs\/(sha256|sha512)\/([0-9a-f]+)$/.exec(name);
  const digest = match === null ? undefined : `${match[1]}:${match[2]}`;
  return isDigest(digest) ? digest : undefined;
}
