import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../bytes/index.js';
import { defaultLimits, type Digest } from '../../core/index.js';
import { listManifestProblems } from './manifest-problems.js';
import { parseManifest, writeManifest } from './manifest.js';

const digest = digestOf(Buffer.from('x'));
const hex = digest.slice('sha256:'.length);

function parse(text: string) {
  return parseManifest(Buffer.from(text));
}

describe('parseManifest', () => {
  it('splits at the last =', () => {
    const { digests } = parse(`model/a=b==${hex}\n`);
    expect([...digests]).toEqual([['model/a=b=', digest]]);
  });

  it('gives the model hash, line numbers and whether the last line ends', () => {
    const text = `a=${hex}\nb=${hex}`;
    const manifest = parse(text);
    expect(manifest.modelHash).toBe(digestOf(Buffer.from(text)).slice(7));
    expect(manifest.lines.map(({ line, path }) => [line, path])).toEqual([
      [1, 'a'],
      [2, 'b'],
    ]);
    expect(manifest.endsWithNewline).toBe(false);
    expect(parse(`${text}\n`).endsWithNewline).toBe(true);
  });

  it('takes upper-case hashes, and of a path that stands twice the first', () => {
    const other = digestOf(Buffer.from('y')).slice(7);
    const { digests, lines } = parse(`a=${hex.toUpperCase()}\na=${other}\n`);
    expect([...digests]).toEqual([['a', digest]]);
    expect(lines[0]?.sha256).toBe(hex.toUpperCase());
  });

  it('is empty for no bytes', () => {
    expect(parse('').lines).toEqual([]);
    expect(parse('\n').lines.map(({ text }) => text)).toEqual(['']);
  });

  it('refuses what is not UTF-8, and too many lines', () => {
    expect(() => parseManifest(Buffer.from([0xff, 0x3d]))).toThrow('Cannot read "MANIFEST": it is not UTF-8');
    expect(() => parseManifest(Buffer.from('\n'.repeat(9)), { ...defaultLimits, archiveEntries: 5 })).toThrow('more than 5 lines');
  });
});

describe('listManifestProblems', () => {
  const problemsOf = (text: string) => listManifestProblems(parse(text), defaultLimits).map(({ message, where }) => `${where} ${message}`);

  it('finds none in what writeManifest made', () => {
    expect(problemsOf(writeManifest(new Map([['carton.toml', digest]])))).toEqual([]);
  });

  it.each([
    ['', 'MANIFEST:2 Cannot use line 2 of MANIFEST: it is empty'],
    ['model', 'MANIFEST:2 Cannot use line 2 of MANIFEST: expected PATH=SHA256, found no "="'],
    ['b=12', 'MANIFEST:2 Cannot use line 2 of MANIFEST: expected 64 hex digits after "=", found "12"'],
    [`b=${hex}\r`, `MANIFEST:2 Cannot use line 2 of MANIFEST: expected 64 hex digits after "=", found "${hex}\\r"`],
    [`b= ${hex}`, `MANIFEST:2 Cannot use line 2 of MANIFEST: expected 64 hex digits after "=", found " ${hex}"`],
    [`LINKS=${hex}`, 'MANIFEST:2 Cannot use line 2 of MANIFEST: LINKS does not belong into it'],
    [`../b=${hex}`, 'MANIFEST:2 Cannot use line 2 of MANIFEST: cannot use the path "../b": it has a ".." part and could leave the package'],
    [`a=${hex}`, 'MANIFEST:2 Cannot use line 2 of MANIFEST: "a" stands in line 1 already'],
    [`a=${'0'.repeat(64)}`, 'MANIFEST:2 Cannot use line 2 of MANIFEST: "a" stands in line 1 already, with another hash'],
  ])('says what is wrong with %j', (line, problem) => {
    expect(problemsOf(`a=${hex}\n${line}\nc=${hex}\n`)).toEqual([problem]);
  });
});

describe('writeManifest', () => {
  it('sorts by UTF-8 bytes, not by UTF-16 units', () => {
    const text = writeManifest(new Map(['\u{1f600}', '\uff5e', 'b', 'a/b', 'a.b'].map((path) => [path, digest])));
    expect(text.split('\n').map((line) => line.split('=')[0])).toEqual(['a.b', 'a/b', 'b', '\uff5e', '\u{1f600}', '']);
  });

  it('refuses a line break in a path', () => {
    expect(() => writeManifest(new Map([['a\nb', digest]]))).toThrow('Cannot list "a\\nb" in MANIFEST');
  });

  it('is read back', () => {
    const path = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\r\n\p{Surrogate}]/u.test(text));
    const random = fc.uint8Array({ maxLength: 4 }).map((bytes): Digest => digestOf(bytes));
    fc.assert(
      fc.property(fc.array(fc.tuple(path, random)), (rows) => {
        const digests = new Map(rows);
        expect(new Map(parse(writeManifest(digests)).digests)).toEqual(digests);
      }),
    );
  });

  it('is read without trouble whatever the bytes are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const manifest = parse(text);
        expect(manifest.digests.size).toBeLessThanOrEqual(manifest.lines.length);
        expect(listManifestProblems(manifest, defaultLimits).length).toBeLessThanOrEqual(manifest.lines.length);
      }),
    );
  });
});
