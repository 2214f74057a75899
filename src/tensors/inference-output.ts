import { findDtype, type PlainTensor, type Tensor } from '../core/index.js';
import { type TensorJsonValue, toJsonValues } from './tensor-json.js';

interface InferenceValue {
  /** `NESTED` is ours: `data` is a list of values, `shape` their count. */
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly data: readonly (TensorJsonValue | InferenceValue)[];
}

/** An output in the words of the Open Inference Protocol, `data` flat in C order. */
export interface InferenceOutput extends InferenceValue {
  readonly name: string;
}

/** May hold bigint, which JSON.stringify refuses. Throws `tensors/bad-array` for dtypes without a form in JSON. */
export function toInferenceOutput(name: string, tensor: Tensor): InferenceOutput {
  if (tensor.kind !== 'nested') return { name, ...toValue(tensor) };
  return { name, datatype: 'NESTED', shape: [tensor.inner.length], data: tensor.inner.map(toValue) };
}

function toValue(tensor: PlainTensor): InferenceValue {
  const dtype = tensor.kind === 'numeric' ? tensor.dtype : 'string';
  return { datatype: findDtype('name', dtype)?.inference ?? dtype.toUpperCase(), shape: tensor.shape, data: toJsonValues(tensor) };
}
