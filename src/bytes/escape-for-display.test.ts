import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeForDisplay } from './escape-for-display.js';

describe('escapeForDisplay', () => {
  it('leaves ordinary text alone', () => {
    expect(escapeForDisplay('ä/日本 \u{1f600} a\\b')).toBe('ä/日本 \u{1f600} a\\b');
  });

  it.each([
    ['\x1b[31m', '\\u{1b}[31m'],
    ['a\nb', 'a\\u{a}b'],
    ['\u009b', '\\u{9b}'],
    ['\x7f', '\\u{7f}'],
    ['\u202egpj.exe', '\\u{202e}gpj.exe'],
    ['\u2066', '\\u{2066}'],
    ['a\u200bb', 'a\\u{200b}b'],
    ['\ufeff', '\\u{feff}'],
    ['\u2028', '\\u{2028}'],
    ['\ud800', '\\u{d800}'],
    ['\u{e0041}', '\\u{e0041}'],
  ])('spells out %j', (text, shown) => {
    expect(escapeForDisplay(text)).toBe(shown);
  });

  it('never gives a control back', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !/[\p{Cc}\p{Cf}]/u.test(escapeForDisplay(text))));
  });
});
