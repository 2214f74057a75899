import { expect, it } from 'vitest';
import { toOptionFields } from './option-fields.js';

it('keeps types and values that JSON has no place for', () => {
  expect(toOptionFields({ a: 'x', b: 2n ** 63n, c: 1, d: 0.1, e: NaN, f: -Infinity, g: true, h: [1], i: undefined })).toEqual([
    { name: 'a', type: 'text', value: 'x' },
    { name: 'b', type: 'integer', value: '9223372036854775808' },
    { name: 'c', type: 'float', value: '1' },
    { name: 'd', type: 'float', value: '0.1' },
    { name: 'e', type: 'float', value: 'NaN' },
    { name: 'f', type: 'float', value: '-Infinity' },
    { name: 'g', type: 'boolean', value: 'true' },
  ]);
});
