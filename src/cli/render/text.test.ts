import { describe, expect, it } from 'vitest';
import { plural, shorten, toCount, toDuration, toShellWord, toShortDigest, toSize } from './text.js';

describe('toSize', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1 kB'],
    [1234, '1.23 kB'],
    [20_300, '20.3 kB'],
    [999_499, '999 kB'],
    [999_500, '1 MB'],
    [2_147_483_648, '2.15 GB'],
    [Number.MAX_SAFE_INTEGER, '9.01 PB'],
  ])('%i → %s', (bytes, text) => {
    expect(toSize(bytes)).toBe(text);
  });
});

describe('toDuration', () => {
  it.each([
    [0.4, '0 ms'],
    [420, '420 ms'],
    [3140, '3.1 s'],
    [125_000, '2 m 05 s'],
  ])('%d → %s', (milliseconds, text) => {
    expect(toDuration(milliseconds)).toBe(text);
  });
});

describe('counts', () => {
  it('are grouped, and agree with their noun', () => {
    expect([toCount(0), toCount(999), toCount(19_970), toCount(1_234_567)]).toEqual(['0', '999', '19,970', '1,234,567']);
    expect([plural(1, 'file'), plural(2000, 'file'), plural(2, 'entry', 'entries')]).toEqual(['1 file', '2,000 files', '2 entries']);
  });
});

describe('shorten', () => {
  it('keeps both ends', () => {
    expect(shorten('models/long/path/model.safetensors', 15)).toBe('models/…tensors');
    expect([shorten('abc', 3), shorten('abcd', 3), shorten('abc', 1), shorten('abc', 0), shorten('abc', -5)]).toEqual(['abc', 'a…d', 'a', '', '']);
  });
});

describe('toShortDigest', () => {
  it('is twelve digits, or a dash', () => {
    expect([toShortDigest(`sha256:${'ab'.repeat(32)}`), toShortDigest(null), toShortDigest(undefined)]).toEqual(['abababababab', '-', '-']);
  });
});

describe('toShellWord', () => {
  it('can be pasted', () => {
    expect([toShellWord('demo/digits:v1'), toShellWord('my model'), toShellWord("it's"), toShellWord('$(rm)')]).toEqual([
      'demo/digits:v1',
      "'my model'",
      "'it'\\''s'",
      "'$(rm)'",
    ]);
  });
});
