import { describe, expect, it } from 'vitest';
import { findTwins, foldPath, TwinFinder } from './path-twins.js';

describe('findTwins', () => {
  it.each([
    ['the same path', ['a', 'b', 'a'], { kind: 'duplicate', first: 'a', second: 'a' }],
    ['a file and then a folder', ['a', 'a/b'], { kind: 'file-and-folder', first: 'a', second: 'a/b' }],
    ['a folder and then a file', ['a/b', 'a'], { kind: 'file-and-folder', first: 'a/', second: 'a' }],
    ['a named folder and a file', ['a/', 'a'], { kind: 'file-and-folder', first: 'a/', second: 'a' }],
    ['a file far above', ['a', 'a/b/c/d'], { kind: 'file-and-folder', first: 'a', second: 'a/b/c/d' }],
    ['upper and lower case', ['Readme', 'README'], { kind: 'case', first: 'Readme', second: 'README' }],
    ['folders that differ in case', ['Foo/a', 'foo/b'], { kind: 'case', first: 'Foo', second: 'foo' }],
    ['a file and a folder that differ in case', ['l', 'L/x'], { kind: 'case', first: 'l', second: 'L' }],
    ['ß and ss', ['straße', 'STRASSE'], { kind: 'case', first: 'straße', second: 'STRASSE' }],
    ['long s', ['ſ', 's'], { kind: 'case', first: 'ſ', second: 's' }],
    ['the Kelvin sign', ['k', '\u212a'], { kind: 'case', first: 'k', second: '\u212a' }],
    ['NFC and NFD', ['caf\u00e9', 'cafe\u0301'], { kind: 'unicode', first: 'caf\u00e9', second: 'cafe\u0301' }],
  ])('finds %s', (_what, paths, twin) => {
    expect(findTwins(paths)).toEqual([twin]);
  });

  it('is content with folders that are named again, and with names that only look alike', () => {
    expect(findTwins(['a/', 'a/', 'a/b', 'a/c', 'ab', 'a.b', 'ä', 'a/b.c'])).toEqual([]);
  });

  it('copes with hundreds of thousands of paths', () => {
    const paths = Array.from({ length: 200_000 }, (_, index) => `d${index % 1000}/f${index}`);
    expect(findTwins([...paths, 'D1/f1'])).toEqual([{ kind: 'case', first: 'd1', second: 'D1' }]);
  });

  it('looks only for exact clashes when names do not fold', () => {
    const finder = new TwinFinder(false);
    expect([finder.add('a'), finder.add('A'), finder.add('a')]).toEqual([undefined, undefined, { kind: 'duplicate', first: 'a', second: 'a' }]);
  });

  it('folds once and for all', () => {
    for (const text of ['ΐ', '\u1fd3', 'İ', 'ǅ', 'ﬃ', 'ΑΣ', 'ας']) expect(foldPath(foldPath(text))).toBe(foldPath(text));
  });
});
