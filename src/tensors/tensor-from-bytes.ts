import { findDtype, type NumericTensor } from '../core/index.js';
import { badArray } from './bad-array.js';
import { countElements } from './element-count.js';

/** Bytes of a tensor without gaps; undefined for a shape that is no shape or too large. */
export function tensorByteLength(dtype: NumericTensor['dtype'], shape: readonly number[]): number | undefined {
  const count = countElements(shape);
  const bits = findDtype('name', dtype)?.bits ?? 0;
  const bytes = count === undefined ? undefined : Math.ceil((count * bits) / 8);
  return bytes === undefined || !Number.isSafeInteger(bytes) ? undefined : bytes;
}

/** Bare little-endian values in C order; a view on `bytes`. Throws `tensors/bad-array` unless there are exactly as many as the shape says. */
export function tensorFromBytes(bytes: Uint8Array, dtype: NumericTensor['dtype'], shape: readonly number[], where: string): NumericTensor {
  const expected = tensorByteLength(dtype, shape);
  if (expected !== bytes.length)
    throw badArray(where, `${dtype} [${shape.join(', ')}] needs ${expected ?? 'too many'} bytes and there are ${bytes.length}`);
  return { kind: 'numeric', dtype, shape, bytes };
}
