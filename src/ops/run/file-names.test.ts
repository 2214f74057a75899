import { expect, it } from 'vitest';
import { toFileName, toFileNames } from './file-names.js';

it.each([
  ['logits', 'logits'],
  ['ü.1', 'ü.1'],
  ['../../etc/passwd', '__.._etc_passwd'],
  ['a\u001b[2J\n', 'a__2J_'],
  ['', '_'],
  ['NUL', '_'],
  ['x'.repeat(300), 'x'.repeat(100)],
])('%j is a file called %j', (name, expected) => {
  expect(toFileName(name)).toBe(expected);
});

it('gives no two names one file', () => {
  expect([...toFileNames(['a/b', 'a_b', 'A_B', 'a_b-2', 'c']).values()]).toEqual(['a_b', 'a_b-2', 'A_B-3', 'a_b-2-2', 'c']);
});
