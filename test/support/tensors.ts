import fc from 'fast-check';
import { dtypes, type NumericTensor, type StringTensor } from '../../src/core/index.js';
import { toTypedArray } from '../../src/tensors/typed-array.js';

export type NumericDtype = NumericTensor['dtype'];

const shapes = fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 });
const countOf = (shape: readonly number[]): number => shape.reduce((product, extent) => product * extent, 1);

/** Any bits of a dtype, at any address; a boolean is 0 or 1. */
export function numericOf(names: readonly NumericDtype[]): fc.Arbitrary<NumericTensor> {
  return fc.tuple(fc.constantFrom(...names), shapes, fc.nat(7)).chain(([dtype, shape, offset]) => {
    const length = (countOf(shape) * (dtypes.find(({ name }) => name === dtype)?.bits ?? 0)) / 8;
    const byte = fc.nat(dtype === 'bool' ? 1 : 255);
    return fc.array(byte, { minLength: length + offset, maxLength: length + offset }).map((bytes): NumericTensor => {
      return { kind: 'numeric', dtype, shape, bytes: Uint8Array.from(bytes).subarray(offset) };
    });
  });
}

/** All dtypes that NumPy has. */
export const npyDtypes = dtypes.flatMap((row) => ('npy' in row ? [row.name] : []));

export const anyString: fc.Arbitrary<StringTensor> = shapes.chain((shape) => {
  const length = countOf(shape);
  const text = fc.string({ unit: 'grapheme', maxLength: 5 });
  return fc.array(text, { minLength: length, maxLength: length }).map((values): StringTensor => ({ kind: 'string', shape, values }));
});

/** A tensor of numbers that are given as such. */
export function numeric(dtype: NumericDtype, shape: readonly number[], values: readonly (number | bigint)[]): NumericTensor {
  const size = (dtypes.find(({ name }) => name === dtype)?.bits ?? 0) / 8;
  const view = new DataView(new ArrayBuffer(values.length * size));
  for (const [at, value] of values.entries()) {
    if (dtype === 'float32') view.setFloat32(at * size, Number(value), true);
    else if (dtype === 'float64') view.setFloat64(at * size, Number(value), true);
    else if (size === 8) view.setBigInt64(at * size, BigInt(value), true);
    else if (size === 4) view.setInt32(at * size, Number(value), true);
    else if (size === 2) view.setInt16(at * size, Number(value), true);
    else view.setInt8(at * size, Number(value));
  }
  return { kind: 'numeric', dtype, shape, bytes: new Uint8Array(view.buffer) };
}

/** In C order; none for types that JavaScript has no array for. */
export function elements(tensor: NumericTensor): readonly (number | bigint)[] {
  return Array.from<number | bigint>(toTypedArray(tensor) ?? []);
}
