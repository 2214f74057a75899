import type { BlobSource, Descriptor, Digest } from '../../core/index.js';

/** Another registry that this one stands in front of. Every call may throw; `registry/*` errors say that it cannot be had now. */
export interface Upstream {
  /** How clients call it, `HOST[:PORT]`: what `?ns=` says. */
  readonly host: string;
  /** By tag or digest; undefined when it has none. */
  resolve(repository: string, reference: string): Promise<Descriptor | undefined>;
  /** Undefined when it has no such blob. */
  findBlob(repository: string, digest: Digest): Promise<Descriptor | undefined>;
  /** Manifests too. */
  blobs(repository: string): BlobSource;
  /** Undefined when it has no such repository. */
  listTags(repository: string): Promise<readonly string[] | undefined>;
  listReferrers(repository: string, subject: Digest): Promise<readonly Descriptor[]>;
}
