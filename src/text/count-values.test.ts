import { expect, it } from 'vitest';
import { defaultLimits } from '../core/index.js';
import { countValues } from './count-values.js';
import { parseToml, parseTypedToml } from './toml.js';

it.each([
  ['', 1],
  ['a = 1', 2],
  ['a = [1, 2, {b = 3}]', 7],
  ['a.b = 1', 3],
  ['# a = [1, 2]\n', 1],
  ['a = "[,,,]{}" # [[[\nb = 1', 3],
  [`a = '[\\'\nb = 1`, 3],
  ['a = "\\"[[[" ', 2],
  ['a = """\n[[["\\"""[""""" # [[\nb = 1', 3],
  ["a = '''\n[[['''''\nb = 1", 3],
  ['"a[[".\'b,,\' = ""\nc = 1', 4],
  ['a = """"""\nb = [', 4],
])('%j has at most %i', (text, expected) => {
  expect(countValues(text)).toBe(expected);
});

it.each([
  ['tables', (many: number) => `a = [${'{},'.repeat(many)}]`],
  ['lists', (many: number) => `a = [${'[],'.repeat(many)}]`],
  ['numbers', (many: number) => `a = [${'1,'.repeat(many)}]`],
  ['keys', (many: number) => Array.from({ length: many }, (_, at) => `k${at}=1\n`).join('')],
])('a document of too many %s is refused before it is parsed', (_, make) => {
  const limits = { ...defaultLimits, tomlValues: 1000 };
  expect(() => parseToml(make(490), 'a.toml', limits)).not.toThrow(/values/);
  for (const parse of [parseToml, parseTypedToml])
    expect(() => parse(make(1001), 'a.toml', limits)).toThrow(/^Cannot read "a.toml": it holds more than 1000 values$/);
});

it('texts that look like values are not counted', () => {
  const text = '[{,'.repeat(2000);
  expect(parseToml(`a = "${text}"`, 'a.toml', { ...defaultLimits, tomlValues: 10 }).value).toEqual({ a: text });
});
