import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseParamSize, toParamSize } from './param-size.js';

describe('toParamSize', () => {
  it.each([
    [0, '0K'],
    [1, '0.1K'],
    [49, '0.1K'],
    [500, '0.5K'],
    [949, '0.9K'],
    [999, '1K'],
    [2410, '2.4K'],
    [4810, '4.8K'],
    [950_000, '950K'],
    [999_949, '999.9K'],
    [999_950, '1M'],
    [1_049_999, '1M'],
    [1_050_000, '1.1M'],
    [124_439_808, '124.4M'],
    [7_241_732_096, '7.2B'],
    [7_000_000_000, '7B'],
    [671_026_419_200, '671B'],
    [1_000_000_000_000, '1T'],
    [Number.MAX_SAFE_INTEGER, '9Q'],
  ])('%i → %s', (count, text) => expect(toParamSize(count)).toBe(text));
});

describe('parseParamSize', () => {
  it.each([
    ['7B', 7e9],
    ['7.2b', 7.2e9],
    ['0.6B', 6e8],
    ['1.1T', 1.1e12],
    ['2Q', 2e15],
    ['0.5k', 500],
    ['8M', 8e6],
  ])('%s → %i', (text, count) => expect(parseParamSize(text)).toBe(count));

  it.each(['', '7', 'B', '7.25B', '.5B', '7.B', '-1B', '7 B', '7BB', '1e3K', '8x7B'])('refuses %s', (text) =>
    expect(parseParamSize(text)).toBeUndefined(),
  );

  it('reads what was written, within the rounding', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: Number.MAX_SAFE_INTEGER }), (count) => {
        const parsed = parseParamSize(toParamSize(count)) ?? 0;
        expect(Math.abs(parsed - count) / count).toBeLessThanOrEqual(0.05);
      }),
    );
  });
});
