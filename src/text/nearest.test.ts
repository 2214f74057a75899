import { expect, it } from 'vitest';
import { findNearest, suggest } from './nearest.js';

it.each([
  ['nmae', 'name'],
  ['NAME', 'name'],
  ['licences', 'licenses'],
  ['verison', 'version'],
  ['x', undefined],
  ['weather', undefined],
])('the word nearest to %s is %s', (word, nearest) => {
  expect(findNearest(word, ['name', 'version', 'licenses'])).toBe(nearest);
});

it('suggests all words when none is near', () => {
  expect(suggest('zzz', ['a', 'b'])).toBe('Known are: a, b');
});
