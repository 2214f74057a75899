import { createError, type NumericTensor, type PlainTensor, type Tensor } from '../core/index.js';
import { isArray64, toTypedArray } from './typed-array.js';

/** bigint: a whole number beyond 2^53, to be written digit by digit. Not-a-number and the infinities are text. */
export type TensorJsonValue = number | bigint | string | boolean;

export interface TensorJson {
  /** `nested`: `data` is a list of such objects, `shape` their count. */
  readonly dtype: string;
  readonly shape: readonly number[];
  /** In C order, flat. */
  readonly data: readonly (TensorJsonValue | TensorJson)[];
}

/** What `parseTensorJson` reads. Throws `tensors/bad-array` for dtypes without a form in JSON: complex numbers, float8, int4 and the like. */
export function toTensorJson(tensor: Tensor): TensorJson {
  if (tensor.kind === 'nested') return { dtype: 'nested', shape: [tensor.inner.length], data: tensor.inner.map(toTensorJson) };
  return { dtype: tensor.kind === 'numeric' ? tensor.dtype : 'string', shape: tensor.shape, data: toJsonValues(tensor) };
}

/** The same as JSON text with a newline at its end: all digits of all integers, the sign of zero. `parseTensorText` gives the same tensor back. */
export function writeTensorText(tensor: Tensor): string {
  return `${writeObject(toTensorJson(tensor))}\n`;
}

export function toJsonValues(tensor: PlainTensor): readonly TensorJsonValue[] {
  if (tensor.kind === 'string') return tensor.values;
  const array = tensor.dtype.startsWith('complex') ? undefined : toTypedArray(tensor);
  if (array === undefined) throw noForm(tensor);
  if (isArray64(array)) return Array.from<bigint, TensorJsonValue>(array, (value) => (isSafe(value) ? Number(value) : value));
  if (tensor.dtype === 'bool') return Array.from(array, (value) => value !== 0);
  return Array.from<number, TensorJsonValue>(array, (value) => (Number.isFinite(value) ? value : String(value)));
}

function isSafe(value: bigint): boolean {
  return Number.isSafeInteger(Number(value));
}

function noForm({ dtype }: NumericTensor): Error {
  return createError('tensors/bad-array', {
    message: `Cannot write a ${dtype} tensor as JSON: JSON has no such numbers`,
    hint: dtype.startsWith('complex') ? 'Write it as .npy' : 'Convert it to float32 or an integer type',
  });
}

function writeObject({ dtype, shape, data }: TensorJson): string {
  const items = data.map((item) => (typeof item === 'object' ? writeObject(item) : writeValue(item)));
  return `{"dtype": ${JSON.stringify(dtype)}, "shape": [${shape.join(', ')}], "data": [${items.join(', ')}]}`;
}

function writeValue(value: TensorJsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return Object.is(value, -0) ? '-0.0' : String(value);
}
