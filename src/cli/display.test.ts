import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toDisplayable, toJson } from './display.js';

const escape = (text: string) => text.replaceAll('\u001b', '!');

describe('toDisplayable', () => {
  it('makes every text safe, keys too, and leaves the rest', () => {
    const value = { 'k\u001b': ['a\u001b', { deep: '\u001b' }], n: 1, none: null, yes: true, absent: undefined };
    expect(toDisplayable(value, escape)).toEqual({ 'k!': ['a!', { deep: '!' }], n: 1, none: null, yes: true, absent: undefined });
  });
});

describe('toJson', () => {
  it('says the same value in characters that no terminal obeys', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(fc.dictionary(text, fc.oneof(text, fc.array(text), fc.integer(), fc.constant(null))), (value) => {
        const json = toJson(value);
        expect(json).not.toMatch(/[\p{Cc}\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/u);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 300 },
    );
  });
});
