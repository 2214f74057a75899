import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyString, elements, numeric, numericOf } from '../../test/support/tensors.js';
import type { NumericTensor, StringTensor, Tensor } from '../core/index.js';
import { compareTensors, type Tolerance } from './compare-tensors.js';
import { unravel } from './unravel.js';

const defaults: Tolerance = { rtol: 1e-5, atol: 1e-8, equalNan: false };
const compare = (actual: Tensor, expected: Tensor, tolerance: Partial<Tolerance> = {}) =>
  compareTensors(actual, expected, { ...defaults, ...tolerance });
const f64 = (...values: number[]): NumericTensor => numeric('float64', [values.length], values);

/** numpy.isclose of one pair, word by word. */
function isClose(a: number, b: number, { rtol, atol, equalNan }: Tolerance): boolean {
  if (Number.isNaN(a) || Number.isNaN(b)) return equalNan && Number.isNaN(a) && Number.isNaN(b);
  if (!Number.isFinite(a) || !Number.isFinite(b)) return a === b;
  return Math.abs(a - b) <= atol + rtol * Math.abs(b);
}

describe('compareTensors', () => {
  it('agrees with a pair by pair comparison', () => {
    const odd = fc.constantFrom(0, -0, 1, 1.00001, 1.0001, -1, 1e-9, Number.NaN, Infinity, -Infinity, 1e308, -1e308);
    const pairs = fc.array(fc.tuple(fc.oneof(odd, fc.double()), fc.oneof(odd, fc.double())), { minLength: 1, maxLength: 6 });
    const tolerances = fc.record({ rtol: fc.constantFrom(0, 1e-5, 0.1), atol: fc.constantFrom(0, 1e-8, 1), equalNan: fc.boolean() });
    fc.assert(
      fc.property(pairs, tolerances, (values, tolerance) => {
        const outside = values.filter(([a, b]) => !isClose(a, b, tolerance));
        const result = compare(f64(...values.map(([a]) => a)), f64(...values.map(([, b]) => b)), tolerance);
        expect(result.equal).toBe(outside.length === 0);
        if (result.equal) return;
        expect(result.reason).toMatch(new RegExp(`^${outside.length} of ${values.length} elements differ`));
        const [at = -1] = result.at ?? [];
        const [a, b] = values[at]!;
        expect([result.actual, result.expected]).toEqual([String(a), String(b)]);
        const excess = (pair: readonly [number, number]): number => {
          const difference = Math.abs(pair[0] - pair[1]);
          return Number.isFinite(difference) ? difference - tolerance.atol - tolerance.rtol * Math.abs(pair[1]) : Infinity;
        };
        const most = Math.max(...outside.map(excess));
        expect(excess([a, b])).toBeGreaterThanOrEqual(most === Infinity ? most : most - Math.abs(most) * 1e-12);
      }),
      { numRuns: 300 },
    );
  });

  it('finds every tensor equal to itself, at any address', () => {
    fc.assert(
      fc.property(numericOf(['float32', 'float16', 'bfloat16', 'int64', 'uint8', 'bool', 'complex128', 'float8_e4m3']), (tensor) => {
        const copy = { ...tensor, bytes: Uint8Array.from(tensor.bytes) };
        expect(compare(tensor, copy, { equalNan: true })).toMatchObject({ equal: true });
      }),
    );
    fc.assert(
      fc.property(anyString, (tensor) => {
        expect(compare(tensor, tensor)).toEqual({ equal: true });
      }),
    );
  });

  it('says by how much and where', () => {
    const result = compare(numeric('float32', [2, 2], [1, 2, 3.5, 4]), numeric('float32', [2, 2], [1, 2.1, 3, 4]));
    expect(result).toMatchObject({ equal: false, maxAbsError: 0.5, at: [1, 0], actual: '3.5', expected: '3' });
    expect(result.reason).toMatch(/^2 of 4 elements differ, most at \[1, 0\]: expected 3, found 3\.5 \(off by 0\.5, allowed 0\.00003/);
    expect(compare(f64(1, 2), f64(1, 2 + 1e-7))).toEqual({ equal: true, maxAbsError: 2 + 1e-7 - 2 });
    expect(compare(numeric('float32', [], [0.1]), numeric('float32', [], [0.3]))).toMatchObject({ at: [], actual: '0.1', expected: '0.3' });
  });

  it('takes the element furthest outside of its tolerance, not the one furthest off', () => {
    expect(compare(f64(1_000_005, 1), f64(1_000_000, 2))).toMatchObject({ at: [1], maxAbsError: 5 });
  });

  it('is exact for integers and booleans', () => {
    const loose = { rtol: 1, atol: 10 };
    expect(compare(numeric('int32', [2], [1, 5]), numeric('int32', [2], [1, 6]), loose)).toMatchObject({ equal: false, maxAbsError: 1, at: [1] });
    const large = compare(numeric('int64', [1], [9007199254740993n]), numeric('int64', [1], [9007199254740992n]), loose);
    expect(large).toMatchObject({ equal: false, maxAbsError: 1, actual: '9007199254740993', expected: '9007199254740992' });
    expect(compare(numeric('uint64', [1], [-1]), numeric('uint64', [1], [0]))).toMatchObject({ maxAbsError: 2 ** 64 });
    expect(compare(numeric('bool', [1], [2]), numeric('bool', [1], [1]))).toMatchObject({ equal: true });
    expect(compare(numeric('bool', [1], [0]), numeric('bool', [1], [1]), loose)).toMatchObject({ actual: 'false', expected: 'true' });
  });

  it('agrees with bigints pair by pair', () => {
    fc.assert(
      fc.property(numericOf(['int64', 'uint64']), fc.nat(), fc.nat(255), (tensor, where, byte) => {
        const bytes = Uint8Array.from(tensor.bytes);
        if (bytes.length > 0) bytes[where % bytes.length] = byte;
        const other = { ...tensor, bytes };
        const [a, b] = [elements(tensor), elements(other)];
        const differing = Array.from({ length: a.length }, (_, at) => at).find((at) => a.at(at) !== b.at(at));
        const result = compare(other, tensor);
        expect(result.equal).toBe(differing === undefined);
        expect(result.at).toEqual(differing === undefined ? undefined : unravel(differing, tensor.shape));
      }),
    );
  });

  it('knows NaN and infinities', () => {
    expect(compare(f64(Number.NaN), f64(Number.NaN))).toMatchObject({ equal: false, maxAbsError: Infinity });
    expect(compare(f64(Number.NaN), f64(Number.NaN), { equalNan: true })).toEqual({ equal: true, maxAbsError: 0 });
    expect(compare(f64(Infinity, -Infinity), f64(Infinity, -Infinity))).toEqual({ equal: true, maxAbsError: 0 });
    expect(compare(f64(1), f64(Infinity))).toMatchObject({ equal: false });
    expect(compare(f64(Infinity), f64(-Infinity), { rtol: 0 })).toMatchObject({ equal: false });
  });

  it('compares complex numbers by their distance', () => {
    const complex = (real: number, imaginary: number): NumericTensor => ({ ...f64(real, imaginary), dtype: 'complex128', shape: [1] });
    expect(compare(complex(3, -4), complex(0, 0))).toMatchObject({ equal: false, maxAbsError: 5, at: [0], actual: '3-4j', expected: '0+0j' });
    expect(compare(complex(1, 2 + 1e-9), complex(1, 2))).toMatchObject({ equal: true });
  });

  it('compares texts, and packed types by their bits', () => {
    const texts = (...values: string[]): StringTensor => ({ kind: 'string', shape: [values.length], values });
    expect(compare(texts('a', 'b'), texts('a', 'c'))).toMatchObject({ equal: false, at: [1], actual: '"b"', expected: '"c"' });
    const packed = (byte: number): NumericTensor => ({ kind: 'numeric', dtype: 'int4', shape: [4], bytes: Uint8Array.of(0, byte) });
    expect(compare(packed(1), packed(2))).toMatchObject({ equal: false, at: [2] });
  });

  it('insists on dtype and shape', () => {
    expect(compare(f64(1), numeric('float32', [1], [1])).reason).toBe('expected float32 [1], found float64 [1]');
    expect(compare(numeric('float64', [1, 1], [1]), f64(1)).reason).toBe('expected float64 [1], found float64 [1, 1]');
    expect(compare({ kind: 'nested', inner: [f64(1)] }, f64(1)).reason).toBe('expected float64 [1], found nested of 1 (float64 [1])');
  });

  it('compares nested tensors one by one', () => {
    const nested = (...inner: NumericTensor[]): Tensor => ({ kind: 'nested', inner });
    expect(compare(nested(f64(1), f64(1, 2)), nested(f64(1), f64(1, 2)))).toEqual({ equal: true, maxAbsError: 0 });
    const worst = compare(nested(f64(1.5), f64(1, 4), f64(3)), nested(f64(1), f64(1, 2), f64(3)));
    expect(worst).toMatchObject({ equal: false, inner: 1, at: [1], maxAbsError: 2, reason: expect.stringMatching(/^tensor 1: 1 of 2 elements/) });
    expect(compare(nested(f64(9), f64(1, 2)), nested(f64(1), f64(1)))).toMatchObject({ inner: 1, maxAbsError: 8 });
    expect(compare(nested(f64(1)), nested())).toMatchObject({ equal: false, reason: 'expected 0 tensors, found 1' });
    expect(compare(nested(), nested())).toEqual({ equal: true });
  });
});
