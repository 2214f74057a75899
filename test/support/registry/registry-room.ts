import { type BlobStorage } from './blob-storage.js';
import { type Exchange } from './exchange.js';
import { type ManifestStorage } from './manifest-storage.js';
import { type RegistryAuth } from './registry-auth.js';
import { type UploadSessions } from './upload-sessions.js';

/** What the answers are made from. */
export interface RegistryRoom {
  readonly blobs: BlobStorage;
  readonly manifests: ManifestStorage;
  readonly uploads: UploadSessions;
  readonly auth: RegistryAuth;
  /** Of a blob at the second origin. */
  storageUrl(digest: string): string;
}

/** `Docker-Content-Digest`, as the behaviour bends it. */
export function toDigestHeader({ behaviour }: Exchange, digest: string): Readonly<Record<string, string>> {
  if (behaviour.dropContentDigest) return {};
  return { 'docker-content-digest': behaviour.wrongContentDigest ? `sha256:${'0'.repeat(64)}` : digest };
}
