import type { DigestAlgorithm } from '../../core/index.js';

/** To a thread of ours. What has an `id` is answered by a ByteAnswer of the same, in order; `bytes` lie in shared memory. */
export type ByteRequest =
  | { readonly kind: 'update'; readonly id: number; readonly hash: number; readonly algorithm: DigestAlgorithm; readonly bytes: Uint8Array }
  | { readonly kind: 'digest'; readonly id: number; readonly hash: number; readonly algorithm: DigestAlgorithm }
  | { readonly kind: 'drop'; readonly hash: number }
  | { readonly kind: 'zstd'; readonly id: number; readonly bytes: Uint8Array };

export interface ByteAnswer {
  readonly id: number;
  /** In answer to `digest`. */
  readonly hex?: string;
  /** In answer to `zstd`. */
  readonly frame?: Uint8Array;
}
