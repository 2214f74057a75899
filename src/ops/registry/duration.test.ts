import { describe, expect, it } from 'vitest';
import { parseDuration, parseInterval } from './duration.js';

describe('parseDuration', () => {
  it.each([
    ['0s', 0],
    ['90s', 90_000],
    ['15m', 900_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['3650d', 315_360_000_000],
  ])('%s', (text, milliseconds) => {
    expect(parseDuration(text, '--x')).toBe(milliseconds);
  });

  it.each(['', '5', 's', '-1s', '1.5h', '1 h', '1H', '1w', '3651d', '9999999999s', 'off', '1h30m'])(
    'refuses %j and says how it is written',
    (text) => {
      expect(() => parseDuration(text, '--older-than')).toThrow(
        expect.objectContaining({
          code: 'ops/bad-option',
          message: expect.stringContaining(`--older-than "${text}": expected a number with s, m, h or d`),
        }),
      );
    },
  );
});

describe('parseInterval', () => {
  it('knows off', () => {
    expect([parseInterval('off', '--x'), parseInterval('24d', '--x')]).toEqual([undefined, 24 * 86_400_000]);
  });

  it.each(['0s', '25d', 'never'])('refuses %s, as no timer can wait so', (text) => {
    expect(() => parseInterval(text, '--x')).toThrow(expect.objectContaining({ code: 'ops/bad-option' }));
  });
});
