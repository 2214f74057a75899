import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob, compileGlobs, escapeGlob, findGlobProblem, fromGoGlob } from './glob.js';

describe('compileGlob', () => {
  it.each([
    ['*.bin', 'a.bin', true],
    ['*.bin', 'dir/a.bin', false],
    ['**/*.bin', 'a.bin', true],
    ['**/*.bin', 'x/y/a.bin', true],
    ['dir/**', 'dir/a/b', true],
    ['dir/**', 'dir', false],
    ['a/**/b/*.c', 'a/b/x/b/y.c', true],
    ['a/**/b/*.c', 'a/x/y.c', false],
    ['**', '.hidden/x', true],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['?', '😀', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[]]x', ']x', true],
    ['[a-]x', '-x', true],
    ['[\\]a]x', ']x', true],
    ['a\\*', 'a*', true],
    ['a\\*', 'ab', false],
    ['a*b*c', 'a1b2b3c', true],
    ['a*b*c', 'a1b2b3', false],
    ['pre*fix', 'prefix', true],
    ['pre*refix', 'prefix', false],
    ['./a/*', 'a/b', true],
    ['data', 'data/deep/file', true],
    ['data/', 'data/file', true],
    ['data', 'database', false],
    ['.', 'any/thing', true],
    ['./', 'any/thing', true],
    ['*', 'dir/file', false],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(compileGlob(pattern).matches(path)).toBe(expected);
  });

  it.each(['', '/abs/*', '../x', 'a/../b', 'a//b', '[a', '[]', 'a\\', '**.bin', 'a/b**', 'C:/x', 'a\0b'])('refuses %j', (pattern) => {
    expect(findGlobProblem(pattern)).toBeTypeOf('string');
    expect(() => compileGlob(pattern)).toThrow(expect.objectContaining({ code: 'buildfile/bad-glob' }));
  });

  it('knows the path that a pattern without wildcards names', () => {
    expect(compileGlob('./a/b\\[1\\]').literal).toBe('a/b[1]');
    expect(compileGlob('a/*').literal).toBeUndefined();
    expect(compileGlob('.').literal).toBe('');
  });

  it('matches with the time of pattern × path', () => {
    const start = performance.now();
    expect(compileGlob(`${'*a'.repeat(120)}b`).matches('a'.repeat(255))).toBe(false);
    expect(compileGlob(`${'**/a/'.repeat(60)}b`).matches('a/'.repeat(2000))).toBe(false);
    expect(performance.now() - start).toBeLessThan(500);
  });

  const segment = fc.stringMatching(/^[ab.*?[\]\\!^-]{1,6}$/);

  it('escapes any path so that only it matches', () => {
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 3 }), fc.array(segment, { minLength: 1, maxLength: 3 }), (names, others) => {
        const [path, other] = [names.join('/'), others.join('/')];
        fc.pre(findGlobProblem(escapeGlob(path)) === undefined && !names.includes('.'));
        const glob = compileGlob(escapeGlob(path));
        expect(glob.matches(path)).toBe(true);
        expect(glob.matches(other)).toBe(other === path || other.startsWith(`${path}/`));
      }),
    );
  });

  it('agrees with a regular expression', () => {
    const pattern = fc.array(fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]', '/'), { minLength: 1, maxLength: 7 }).map((parts) => parts.join(''));
    const path = fc.stringMatching(/^[abc]{1,4}(\/[abc]{1,3})?$/);
    fc.assert(
      fc.property(pattern, path, (glob, candidate) => {
        fc.pre(findGlobProblem(glob) === undefined && /[*?[]/.test(glob) && !/\*\*|\/$/.test(glob));
        const regular = new RegExp(`^${glob.replaceAll('*', '[^/]*').replaceAll('?', '[^/]').replaceAll('[!', '[^/')}$`);
        expect(compileGlob(glob).matches(candidate)).toBe(regular.test(candidate));
      }),
      { numRuns: 2000 },
    );
  });
});

it('compileGlobs is true for any of several', () => {
  const matches = compileGlobs(['*.a', 'x/**']);
  expect([matches('1.a'), matches('x/y'), matches('1.b')]).toEqual([true, true, false]);
  expect(compileGlobs([])('x')).toBe(false);
});

it('fromGoGlob makes ** what it is in Go', () => {
  expect(fromGoGlob('a/**/b**.x\\**')).toBe('a/*/b*.x\\**');
});
