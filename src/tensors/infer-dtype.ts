import type { DtypeName } from '../core/index.js';
import { isFloatWord } from './float-words.js';

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;

/**
 * The dtype of values that nobody declared: text, booleans, int64 for whole numbers (uint64 where they need it), float64 for all other numbers and for
 * no values at all. The elements are judged one by one when they are encoded.
 */
export function inferDtype(values: readonly unknown[], hasFraction: boolean): DtypeName {
  const isNumber = (value: unknown): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';
  if (!values.some(isNumber)) return typeof values[0] === 'string' ? 'string' : typeof values[0] === 'boolean' ? 'bool' : 'float64';
  const isWhole = values.every(
    (value) => typeof value === 'bigint' || (!isFloatWord(value) && (typeof value !== 'number' || Number.isSafeInteger(value))),
  );
  if (hasFraction || !isWhole) return 'float64';
  const large = values.filter((value) => typeof value === 'bigint');
  return large.some((value) => value > int64.max) ? 'uint64' : 'int64';
}
