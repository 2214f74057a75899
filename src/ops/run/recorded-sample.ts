import type { NamedTensors } from '../../core/index.js';

/** One inference that is kept. */
export interface RecordedSample {
  readonly kind: 'self-test' | 'example';
  readonly name: string;
  /** What it was recorded with. */
  readonly description: string;
  readonly inputs: NamedTensors;
  readonly outputs: NamedTensors;
}
