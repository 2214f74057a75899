import type { NumberArray } from './typed-array.js';

/** |a - b| <= atol + rtol * |b|, b being what was expected. */
export interface Tolerance {
  readonly rtol: number;
  readonly atol: number;
  /** Whether NaN is equal to NaN. */
  readonly equalNan: boolean;
}

/** What a pass over all elements found. Positions count in C order. */
export interface Differences {
  /** How many are outside of the tolerance. */
  readonly count: number;
  /** The one that is furthest outside of it, the first of several; -1 when there is none. */
  readonly worst: number;
  /** |a - b| of the worst, and what was allowed there. */
  readonly error: number;
  readonly allowed: number;
  /** Over all elements; Infinity where a NaN or an infinity met something else. */
  readonly maxAbsError: number;
}

/** `width` numbers are one element: 2 of a complex one, whose distance is that in the plane. Both arrays are of one length. */
export function compareNumbers(actual: NumberArray, expected: NumberArray, width: 1 | 2, { rtol, atol, equalNan }: Tolerance): Differences {
  let count = 0;
  let worst = -1;
  let worstExcess = 0;
  let maxAbsError = 0;
  let error = 0;
  let allowed = 0;
  for (let at = 0; at < expected.length; at += width) {
    const difference = width === 1 ? distance(actual[at] ?? 0, expected[at] ?? 0, equalNan) : distance2(actual, expected, at, equalNan);
    if (difference === 0) continue;
    if (difference > maxAbsError) maxAbsError = difference;
    const size = width === 1 ? Math.abs(expected[at] ?? 0) : Math.hypot(expected[at] ?? 0, expected[at + 1] ?? 0);
    const tolerance = atol + rtol * size;
    // An infinite difference is outside even where an infinite value makes the tolerance infinite.
    if (difference !== Infinity && difference <= tolerance) continue;
    count++;
    const excess = difference === Infinity ? Infinity : difference - tolerance;
    if (worst >= 0 && excess <= worstExcess) continue;
    worst = at / width;
    worstExcess = excess;
    error = difference;
    allowed = tolerance;
  }
  return { count, worst, error, allowed, maxAbsError };
}

function distance(actual: number, expected: number, equalNan: boolean): number {
  if (actual === expected) return 0;
  const difference = Math.abs(actual - expected);
  if (!Number.isNaN(difference)) return difference;
  return equalNan && Number.isNaN(actual) && Number.isNaN(expected) ? 0 : Infinity;
}

function distance2(actual: NumberArray, expected: NumberArray, at: number, equalNan: boolean): number {
  const real = distance(actual[at] ?? 0, expected[at] ?? 0, equalNan);
  return Math.hypot(real, distance(actual[at + 1] ?? 0, expected[at + 1] ?? 0, equalNan));
}
