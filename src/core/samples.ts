import type { Tensor } from './tensor.js';

/** A tensor that is read when it is needed. Throws what reading throws, and the error of its format for a damaged one. */
export type LazyTensor = () => Promise<Tensor>;

/** Inputs, and what the model should make of them. `rtol` and `atol` as in numpy.allclose; absent: the defaults of whoever compares. */
export interface SelfTest {
  readonly name?: string;
  readonly description?: string;
  readonly inputs: ReadonlyMap<string, LazyTensor>;
  /** Absent: that it runs is the test. */
  readonly expected?: ReadonlyMap<string, LazyTensor>;
  readonly rtol?: number;
  readonly atol?: number;
}

/** A tensor, or a file of the package such as a picture; `path` is that of the part. */
export type SampleValue = { readonly kind: 'tensor'; readonly load: LazyTensor } | { readonly kind: 'file'; readonly path: string };

/** For people: it need not be runnable. */
export interface Example {
  readonly name?: string;
  readonly description?: string;
  readonly inputs: ReadonlyMap<string, SampleValue>;
  readonly outputs: ReadonlyMap<string, SampleValue>;
}

export interface Samples {
  readonly selfTests: readonly SelfTest[];
  readonly examples: readonly Example[];
}
