import { expect, it } from 'vitest';
import { parseByteSize, toByteSize } from './byte-size.js';
import { parseInstant } from './instant.js';

it.each([
  ['2026-01-31', '2026-01-31T00:00:00Z'],
  ['2024-02-29T23:59:59z', '2024-02-29T23:59:59Z'],
  ['2026-01-31 12:00:00.5+05:30', '2026-01-31T12:00:00.5+05:30'],
  ['2026-01-31T12:00Z', '2026-01-31T12:00:00Z'],
  ['2026-01-31T12:00:00', undefined],
  ['2026-02-29', undefined],
  ['2026-13-01', undefined],
  ['2026-01-01T24:00:00Z', undefined],
  ['2026/01/31', undefined],
  ['yesterday', undefined],
])('the instant %s is %s', (text, instant) => {
  expect(parseInstant(text)).toBe(instant);
});

it.each([
  ['4Gi', 2 ** 32],
  ['1.5GiB', 1.5 * 2 ** 30],
  ['512M', 512e6],
  ['10', 10],
  ['4Gx', undefined],
  ['-1', undefined],
  ['99999999999Ti', undefined],
])('%s is %s bytes', (text, bytes) => {
  expect(parseByteSize(text)).toBe(bytes);
});

it.each([0, 1, 1024, 1025, 1.5 * 2 ** 30, 2 ** 40])('%d bytes read back', (bytes) => {
  expect(parseByteSize(toByteSize(bytes))).toBe(bytes);
});
