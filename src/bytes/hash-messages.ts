import type { DigestAlgorithm } from '../core/index.js';

/** To a hash thread. What has an `id` is answered by a HashAnswer of the same, in order; `update` carries bytes in shared memory. */
export type HashRequest =
  | { readonly kind: 'update'; readonly id: number; readonly hash: number; readonly algorithm: DigestAlgorithm; readonly bytes: Uint8Array }
  | { readonly kind: 'digest'; readonly id: number; readonly hash: number; readonly algorithm: DigestAlgorithm }
  | { readonly kind: 'drop'; readonly hash: number };

export interface HashAnswer {
  readonly id: number;
  /** In answer to `digest`. */
  readonly hex?: string;
}
