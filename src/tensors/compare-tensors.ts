import { findDtype, type NestedTensor, type NumericTensor, type StringTensor, type Tensor } from '../core/index.js';
import { quote } from './bad-array.js';
import { compareIntegers } from './compare-integers.js';
import { compareNumbers, type Differences, type Tolerance } from './compare-numbers.js';
import { describeTensor } from './describe-tensor.js';
import { type IntegerArray64, isArray64, type NumberArray, toTypedArray } from './typed-array.js';
import { showElement } from './show-element.js';
import { unravel } from './unravel.js';

export type { Tolerance } from './compare-numbers.js';

/** `at`, `inner`, `actual` and `expected` are of the worst element, when there is one. */
export interface Comparison {
  readonly equal: boolean;
  /** Why not, in words. */
  readonly reason?: string;
  /** Largest |actual - expected| over all numbers, those within the tolerance too. Infinity where NaN or an infinity met something else. */
  readonly maxAbsError?: number;
  readonly at?: readonly number[];
  /** Which tensor of a nested one. */
  readonly inner?: number;
  readonly actual?: string;
  readonly expected?: string;
}

const exact: Tolerance = { rtol: 0, atol: 0, equalNan: true };

/**
 * As numpy.allclose: |actual - expected| <= atol + rtol * |expected| for floats. Integers, booleans and texts are equal or not; dtype and shape have to
 * agree. An infinity is equal to the same infinity. Nested tensors are compared one by one.
 */
export function compareTensors(actual: Tensor, expected: Tensor, tolerance: Tolerance): Comparison {
  if (actual.kind === 'nested' && expected.kind === 'nested') return compareNested(actual, expected, tolerance);
  const [found, wanted] = [describeTensor(actual), describeTensor(expected)];
  if (found !== wanted) return { equal: false, reason: `expected ${wanted}, found ${found}` };
  if (actual.kind === 'numeric' && expected.kind === 'numeric') return compareNumeric(actual, expected, tolerance);
  return compareStrings(actual as StringTensor, expected as StringTensor);
}

function compareNested(actual: NestedTensor, expected: NestedTensor, tolerance: Tolerance): Comparison {
  if (actual.inner.length !== expected.inner.length)
    return { equal: false, reason: `expected ${expected.inner.length} tensors, found ${actual.inner.length}` };
  const all = expected.inner.map((one, inner) => ({ ...compareTensors(actual.inner[inner] as Tensor, one, tolerance), inner }));
  const errors = all.flatMap(({ maxAbsError }) => (maxAbsError === undefined ? [] : [maxAbsError]));
  const maxAbsError = errors.length === 0 ? {} : { maxAbsError: errors.reduce((largest, error) => Math.max(largest, error)) };
  const failed = all.filter(({ equal }) => !equal);
  // One that is of another kind has no error to measure: it comes first.
  const rank = (one: Comparison): number => one.maxAbsError ?? Infinity;
  const [first, ...others] = failed;
  if (first === undefined) return { equal: true, ...maxAbsError };
  const worst = others.reduce((before, one) => (rank(one) > rank(before) ? one : before), first);
  return { ...worst, ...maxAbsError, reason: `tensor ${worst.inner}: ${worst.reason}` };
}

function compareStrings(actual: StringTensor, expected: StringTensor): Comparison {
  const differing = expected.values.flatMap((text, at) => (actual.values[at] === text ? [] : [at]));
  const [first] = differing;
  if (first === undefined) return { equal: true };
  const at = unravel(first, expected.shape);
  const [found, wanted] = [quote(actual.values[first] ?? ''), quote(expected.values[first] ?? '')];
  const reason = `${differing.length} of ${expected.values.length} texts differ, first at [${at.join(', ')}]: expected ${wanted}, found ${found}`;
  return { equal: false, reason, at, actual: found, expected: wanted };
}

function compareNumeric(actual: NumericTensor, expected: NumericTensor, tolerance: Tolerance): Comparison {
  const [left, right] = [toTypedArray(actual), toTypedArray(expected)];
  if (left === undefined || right === undefined) return compareBytes(actual, expected);
  if (left.length !== right.length) return { equal: false, reason: `expected ${right.length} elements, found ${left.length}` };
  const { count, worst, error, allowed, maxAbsError } = compareArrays(left, right, expected.dtype, tolerance);
  if (count === 0) return { equal: true, maxAbsError };
  const at = unravel(worst, expected.shape);
  const [found, wanted] = [showElement(left, worst, expected.dtype), showElement(right, worst, expected.dtype)];
  const width = expected.dtype.startsWith('complex') ? 2 : 1;
  const distance = `off by ${toShort(error)}${allowed === 0 ? '' : `, allowed ${toShort(allowed)}`}`;
  const reason = `${count} of ${right.length / width} elements differ, most at [${at.join(', ')}]: expected ${wanted}, found ${found} (${distance})`;
  return { equal: false, reason, maxAbsError, at, actual: found, expected: wanted };
}

function compareArrays(
  actual: NumberArray | IntegerArray64,
  expected: NumberArray | IntegerArray64,
  dtype: NumericTensor['dtype'],
  tolerance: Tolerance,
): Differences {
  if (isArray64(actual) && isArray64(expected)) return compareIntegers(actual, expected);
  const isComplex = dtype.startsWith('complex');
  const isInexact = isComplex || dtype.includes('float');
  return compareNumbers(actual as NumberArray, expected as NumberArray, isComplex ? 2 : 1, isInexact ? tolerance : exact);
}

/** float8, int4 and the like: equal or not. */
function compareBytes(actual: NumericTensor, expected: NumericTensor): Comparison {
  const differing = expected.bytes.findIndex((byte, at) => byte !== actual.bytes[at]);
  if (differing < 0 && actual.bytes.length === expected.bytes.length) return { equal: true };
  const bits = findDtype('name', expected.dtype)?.bits ?? 8;
  const at = unravel(Math.floor((Math.max(differing, 0) * 8) / bits), expected.shape);
  return { equal: false, reason: `the bytes differ, first at about [${at.join(', ')}]`, at };
}

/** For people: what binary fractions add behind is of no interest. */
function toShort(value: number): string {
  return String(Number(value.toPrecision(6)));
}
