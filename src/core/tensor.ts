import type { DtypeName } from './dtype.js';

/** `bytes` are little-endian, in C order, without gaps: exactly the product of `shape` elements. They may begin at any address. */
export interface NumericTensor {
  readonly kind: 'numeric';
  readonly dtype: Exclude<DtypeName, 'string'>;
  readonly shape: readonly number[];
  readonly bytes: Uint8Array;
}

/** `values` in C order, as many as the product of `shape`. */
export interface StringTensor {
  readonly kind: 'string';
  readonly shape: readonly number[];
  readonly values: readonly string[];
}

export type PlainTensor = NumericTensor | StringTensor;

/** A ragged tensor: a list of tensors that need not agree in shape. (Carton format, tensor_data) */
export interface NestedTensor {
  readonly kind: 'nested';
  readonly inner: readonly PlainTensor[];
}

export type Tensor = PlainTensor | NestedTensor;

/** In declared order, where there is one. */
export type NamedTensors = ReadonlyMap<string, Tensor>;
