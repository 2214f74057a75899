import type { NumericTensor } from '../core/index.js';
import type { IntegerArray64, NumberArray } from './typed-array.js';

/** One element for a person: as few digits as its type can tell apart. */
export function showElement(array: NumberArray | IntegerArray64, position: number, dtype: NumericTensor['dtype']): string {
  if (dtype.startsWith('complex')) {
    const [real, imaginary] = [array[position * 2] ?? 0, array[position * 2 + 1] ?? 0];
    return `${show(real, dtype)}${imaginary < 0 ? '' : '+'}${show(imaginary, dtype)}j`;
  }
  const value = array[position] ?? 0;
  return dtype === 'bool' ? String(value !== 0) : show(value, dtype);
}

function show(value: number | bigint, dtype: string): string {
  if (typeof value === 'bigint' || dtype === 'float64' || dtype === 'complex128' || !Number.isFinite(value)) return String(value);
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(value);
}
