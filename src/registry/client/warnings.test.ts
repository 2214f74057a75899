import { expect, it } from 'vitest';
import { parseWarnings } from './warnings.js';

it.each([
  ['299 - "one"', ['one']],
  ['299 - "one", 299 - "two, and a half"', ['one', 'two, and a half']],
  [String.raw`299 - "a \"word\" and \\"`, [String.raw`a "word" and \ `.trim()]],
  ['199 - "stale", 299 - "said"', ['said']],
  ['299 - "tab\there"', ['tab\\u{9}here']],
  ['299 - unquoted', []],
  ['299 - "never ends', []],
  ['', []],
  [undefined, []],
])('the header %j says %j', (header, texts) => {
  expect(parseWarnings(header)).toEqual(texts);
});

it('is not read beyond its length', () => {
  expect(parseWarnings(`299 - "${'x'.repeat(5000)}"`)).toEqual([]);
  expect(parseWarnings(Array.from({ length: 1000 }, () => '299 - "x"').join(', ')).length).toBeLessThan(400);
});
