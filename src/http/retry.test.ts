import { describe, expect, it } from 'vitest';
import { createError } from '../core/index.js';
import { defaultRetry, isPassing, isPassingError, parseRetryAfter, toDelay, wait } from './retry.js';

const now = Date.UTC(2026, 0, 1);

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['5', 5000],
    [' 5 ', 5000],
    [new Date(now + 7000).toUTCString(), 7000],
    [new Date(now - 7000).toUTCString(), 0],
    ['9'.repeat(20), 1e23],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['2026', 2_026_000],
    ['2026-01-01', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('of %j is %j ms', (text, expected) => {
    expect(parseRetryAfter(text, now)).toBe(expected);
  });
});

describe('waiting', () => {
  it.each([
    [2, 250],
    [3, 500],
    [4, 1000],
    [9, 8000],
    [60, 8000],
  ])('before try %d takes about %d ms', (attempt, middle) => {
    for (let turn = 0; turn < 50; turn++) {
      const delay = toDelay(attempt, defaultRetry);
      expect(delay).toBeGreaterThanOrEqual(0.75 * middle);
      expect(delay).toBeLessThanOrEqual(1.25 * middle);
    }
  });

  it('ends when the work is cancelled', async () => {
    const control = new AbortController();
    const waiting = wait(3_600_000, control.signal);
    control.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'core/cancelled' });
  });

  it('is for what passes', () => {
    expect([408, 425, 429, 500, 502, 503, 504].every(isPassing)).toBe(true);
    expect([200, 301, 400, 401, 403, 404, 413, 501].some(isPassing)).toBe(false);
    const failure = (code: Parameters<typeof createError>[0]) => createError(code, { message: 'x' });
    expect(isPassingError(failure('registry/interrupted'), false)).toBe(true);
    expect([true, false].map((wasReached) => isPassingError(failure('registry/unreachable'), wasReached))).toEqual([true, false]);
    expect(isPassingError(failure('registry/denied'), true) || isPassingError(new Error('x'), true)).toBe(false);
  });
});
