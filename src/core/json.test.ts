import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isToolkitError } from './error.js';
import { parseJson } from './json.js';

const limits = { bytes: 10_000, depth: 8 };
const parse = (text: string | Uint8Array) => parseJson(typeof text === 'string' ? Buffer.from(text) : text, 'x.json', limits);

describe('parseJson', () => {
  it.each(['{}', '[]', '[1,"a",null,true,{"b":[{}]}]', '{"a":"{\\"a\\":1}","b":{"a":1}}', ' \n"x" ', '{"a,":1,"a":[",a",{"a":2}]}'])(
    'reads %s as JSON.parse does',
    (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    },
  );

  it.each([
    ['{"a":1,"a":2}', 'the key "a" stands twice', 'x.json:1:8'],
    ['{"a":1,\n "\\u0061":2}', 'the key "a" stands twice', 'x.json:2:2'],
    ['{"__proto__":{},"__proto__":{}}', 'stands twice', 'x.json:1:17'],
    ['[[[[[[[[[0]]]]]]]]]', 'nested deeper than 8', 'x.json:1:9'],
    ['{"a":1,}', 'as JSON', 'x.json:1:8'],
    ['\ufeff{}', 'byte-order mark', 'x.json'],
    ['"'.padEnd(10_001, 'a'), '10001 bytes', 'x.json'],
  ])('refuses %j', (text, reason, where) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'core/bad-json', message: expect.stringContaining(reason) as string, where }));
  });

  it('refuses what is not UTF-8', () => {
    expect(() => parse(Uint8Array.of(0x22, 0xff, 0x22))).toThrow(
      expect.objectContaining({ message: expect.stringContaining('not UTF-8') as string }),
    );
  });

  it('agrees with JSON.parse on every value', () => {
    const agrees = (value: unknown) => {
      const text = JSON.stringify(value);
      expect(parse(text)).toEqual(JSON.parse(text));
    };
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 5 }), agrees), { numRuns: 300 });
  });

  it('gives a value or a ToolkitError for any text', () => {
    const text = fc.stringMatching(/^[{}[\]",:\\a1 ]{0,40}$/);
    fc.assert(
      fc.property(text, (source) => {
        try {
          expect(parse(source)).toEqual(JSON.parse(source));
        } catch (error) {
          expect(isToolkitError(error, 'core/bad-json')).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
