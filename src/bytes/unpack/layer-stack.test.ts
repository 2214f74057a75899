import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '../../core/index.js';
import { normalizeLayerName } from './layer-mask.js';
import { stackLayers } from './layer-stack.js';
import type { TarEntry, TarKind } from '../tar/tar-entry.js';

let offset = 0;

/** `a` a file, `a/` a folder, `a -> b` a symlink, `a = b` a hard link, `a!` a device. */
function entry(text: string): TarEntry {
  const [name = '', linkTarget] = text.split(/ -> | = /);
  const kind: TarKind = text.includes(' -> ')
    ? 'symlink'
    : text.includes(' = ')
      ? 'hardlink'
      : text.endsWith('/')
        ? 'directory'
        : text.endsWith('!')
          ? 'character-device'
          : 'file';
  return {
    name: name.replace('!', ''),
    kind,
    size: 0,
    mode: 0o4755,
    uid: 0,
    gid: 0,
    mtime: 1,
    offset: (offset += 512),
    ...(linkTarget === undefined ? {} : { linkTarget }),
  };
}

const stack = (...layers: string[][]) =>
  stackLayers(
    layers.map((layer) => layer.map(entry)),
    defaultLimits,
  );
const list = (...layers: string[][]) => stack(...layers).entries.map(({ path, layer }) => `${path}@${layer}`);

describe('stackLayers', () => {
  it('puts upper over lower, and says where each comes from', () => {
    expect(list(['a', 'b', 'd/', 'd/x'], ['b', 'd/y'])).toEqual(['a@0', 'b@1', 'd@0', 'd/x@0', 'd/y@1']);
  });

  it('takes the attributes of the upper folder', () => {
    expect(list(['d/', 'd/x'], ['d/'])).toEqual(['d@1', 'd/x@0']);
  });

  it('applies the example of the specification', () => {
    expect(list(['file1', 'a/', 'a/file2', 'b/', 'c/', 'c/file3'], ['.wh.file1', 'a/.wh.file2', '.wh.b', 'file4'])).toEqual([
      'a@0',
      'c@0',
      'c/file3@0',
      'file4@1',
    ]);
  });

  it.each([[['a/', 'a/.wh..wh..opq', 'a/b/', 'a/b/c/', 'a/b/c/foo']], [['a/', 'a/b/', 'a/b/c/', 'a/b/c/foo', 'a/.wh..wh..opq']]])(
    'applies opaque whiteouts in any order',
    (upper) => {
      expect(list(['a/', 'a/b/', 'a/b/c/', 'a/b/c/bar'], upper)).toEqual(['a@1', 'a/b@1', 'a/b/c@1', 'a/b/c/foo@1']);
    },
  );

  it('empties the root', () => {
    expect(list(['a', 'b/c'], ['.wh..wh..opq', 'd'])).toEqual(['d@1']);
  });

  it('hides in lower layers only, and can be undone by an upper one', () => {
    expect(list(['a'], ['.wh.a', 'a'], [])).toEqual(['a@1']);
    expect(list(['a'], ['.wh.a'], ['a'])).toEqual(['a@2']);
  });

  it('lets a file replace a folder and a folder a file, with what lies below', () => {
    expect(list(['x/y'], ['x'])).toEqual(['x@1']);
    expect(list(['x'], ['x/', 'x/y'])).toEqual(['x@1', 'x/y@1']);
    expect(list(['x'], ['x/y'])).toEqual(['x/y@1']);
    expect(list(['x/y'], ['x'], ['x/'])).toEqual(['x@2']);
    expect(list(['x/y'], ['x -> z'], ['x/z'])).toEqual(['x/z@2']);
  });

  it('reads names however they are written', () => {
    expect(list(['./', './a', '/b', 'c//d', './e/./f'])).toEqual(['a@0', 'b@0', 'c/d@0', 'e/f@0']);
  });

  it('follows hard links inside their layer, even to what is hidden from above', () => {
    const { entries, findings } = stack(['a', 'b = a', 'c = ./b', 'l -> a', 'm = l', 'n = none', 'o = o'], ['a']);
    expect(entries.map(({ path, kind, layer }) => `${path} ${kind} ${layer}`)).toEqual([
      'a file 1',
      'b file 0',
      'c file 0',
      'l symlink 0',
      'm symlink 0',
    ]);
    expect(entries.find(({ path }) => path === 'b')?.offset).toBe(entries.find(({ path }) => path === 'c')?.offset);
    expect(findings.map(({ message }) => message)).toEqual([expect.stringContaining('"n" is left out'), expect.stringContaining('"o" is left out')]);
  });

  it('leaves devices out, which still hide what is below', () => {
    const { entries, findings } = stack(['d', 'e'], ['d!']);
    expect(entries.map(({ path }) => path)).toEqual(['e']);
    expect(findings).toHaveLength(1);
  });

  it('masks set-id bits and takes the last of equal names', () => {
    const { entries } = stack(['a', 'a']);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({ mode: 0o755, offset });
  });

  it('passes over what AUFS kept for itself', () => {
    expect(list(['.wh..wh.plnk/', '.wh..wh.plnk/1.2', '.wh..wh.aufs', 'a'])).toEqual(['a@0']);
  });

  it.each([
    [['../x'], 'bytes/unsafe-path'],
    [['a/../../x'], 'bytes/unsafe-path'],
    [['a\0'], 'bytes/unsafe-path'],
    [['.wh.'], 'bytes/refused-entry'],
    [['a/.wh.'], 'bytes/refused-entry'],
    [['a/.wh...'], 'bytes/refused-entry'],
    [['.wh..'], 'bytes/refused-entry'],
    [['x', 'x/y'], 'bytes/refused-entry'],
    [['x/y', 'x'], 'bytes/refused-entry'],
    [['x -> /etc', 'x/y'], 'bytes/refused-entry'],
  ])('refuses %j', (layer, code) => {
    expect(() => stack(layer)).toThrow(expect.objectContaining({ code }));
  });

  it('agrees with applying the layers from below', () => {
    const name = fc.constantFrom('a', 'b', 'a/', 'a/c', 'a/c/', 'a/c/d', 'b/e', '.wh.a', '.wh.b', 'a/.wh.c', 'a/.wh..wh..opq', '.wh..wh..opq');
    fc.assert(
      fc.property(fc.array(fc.uniqueArray(name, { maxLength: 6 }), { minLength: 2, maxLength: 4 }), (layers) => {
        const clean = layers.map((layer) => layer.filter((one) => !layer.some((other) => isClash(one, other))));
        const files = stack(...clean)
          .entries.filter(({ kind }) => kind === 'file')
          .map(({ path, layer }) => `${path}@${layer}`);
        expect(files).toEqual(applyFromBelow(clean));
      }),
      { numRuns: 2000 },
    );
  });
});

/** A file where another name of the layer needs a folder: no layer may say that. */
function isClash(one: string, other: string): boolean {
  return !one.endsWith('/') && other.startsWith(`${one}/`);
}

/** The naive way: a map that every layer changes in turn. Only files are kept. */
function applyFromBelow(layers: readonly (readonly string[])[]): string[] {
  const tree = new Map<string, string>();
  const removeAt = (path: string) => {
    for (const key of tree.keys()) if (key === path || key.startsWith(`${path}/`)) tree.delete(key);
  };
  layers.forEach((layer, index) => {
    for (const name of layer) {
      const [, folder = '', hidden = ''] = /^(.*?)\.wh\.(.*)$/.exec(name) ?? [];
      if (hidden === '.wh..opq') for (const key of tree.keys()) if (key.startsWith(folder)) tree.delete(key);
      if (hidden !== '') removeAt(folder + hidden);
    }
    for (const name of layer) {
      const path = name.replace(/\/$/, '');
      for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) tree.delete(path.slice(0, at));
      if (name.includes('.wh.')) continue;
      if (name.endsWith('/')) tree.delete(path);
      else {
        removeAt(path);
        tree.set(path, `${path}@${index}`);
      }
    }
  });
  return [...tree.values()].sort();
}

describe('normalizeLayerName', () => {
  it.each([
    ['a', 'a'],
    ['./', ''],
    ['/', ''],
    ['/a/', 'a'],
    ['a/./b//c', 'a/b/c'],
    ['.a/..b', '.a/..b'],
    ['../a', '../a'],
  ])('%j is %j', (name, normal) => {
    expect(normalizeLayerName(name)).toBe(normal);
  });
});
