import type { Digest } from './digest.js';

/** What a blob is, how large it is and what its bytes hash to. (OCI image-spec, descriptor.md) Sizes are bytes. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: Digest;
  readonly size: number;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: Readonly<Record<string, unknown>>;
}
