import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseByteRange, parsePieceRange } from './byte-range.js';

describe('a range', () => {
  it.each([
    ['bytes=0-9', { kind: 'part', start: 0, end: 10 }],
    ['bytes=500-', { kind: 'part', start: 500, end: 1000 }],
    ['bytes=-300', { kind: 'part', start: 700, end: 1000 }],
    ['bytes=-3000', { kind: 'part', start: 0, end: 1000 }],
    ['bytes=900-5000', { kind: 'part', start: 900, end: 1000 }],
    ['BYTES= 0-0 ', { kind: 'part', start: 0, end: 1 }],
    ['bytes=500-0', { kind: 'unsatisfiable' }],
    ['bytes=1000-', { kind: 'unsatisfiable' }],
    ['bytes=1000-2000', { kind: 'unsatisfiable' }],
    ['bytes=-0', { kind: 'unsatisfiable' }],
    ['bytes=0-1,5-6', { kind: 'whole' }],
    ['bytes=-', { kind: 'whole' }],
    ['bytes=a-b', { kind: 'whole' }],
    ['items=0-1', { kind: 'whole' }],
    [undefined, { kind: 'whole' }],
  ])('%s of 1000 bytes', (field, range) => {
    expect(parseByteRange(field, 1000)).toEqual(range);
  });

  it('of nothing is never there', () => {
    for (const field of ['bytes=0-', 'bytes=0-0', 'bytes=-1']) expect(parseByteRange(field, 0)).toEqual({ kind: 'unsatisfiable' });
  });

  it('lies within the bytes, whatever is asked for', () => {
    const asked = fc.oneof(fc.string(), fc.stringMatching(/^bytes=\d{0,20}-\d{0,20}$/));
    fc.assert(
      fc.property(asked, fc.nat(), (field, size) => {
        const range = parseByteRange(field, size);
        return range.kind !== 'part' || (range.start >= 0 && range.start < range.end && range.end <= size);
      }),
    );
  });
});

describe('the range of a piece', () => {
  it.each([
    ['0-9', { start: 0, end: 10 }],
    ['10-10', { start: 10, end: 11 }],
    ['bytes 0-9/*', { start: 0, end: 10 }],
    ['bytes=0-9', { start: 0, end: 10 }],
    ['9-0', undefined],
    ['0-', undefined],
    ['-9', undefined],
    ['0-9,10-19', undefined],
    ['0-99999999999999999', undefined],
    ['', undefined],
  ])('%s', (field, range) => {
    expect(parsePieceRange(field)).toEqual(range);
  });
});
