import { chmodSync, lstatSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RawEntry } from '../../../test/support/raw-tar.js';
import { createSandbox, failure, file, folder, hardlink, symlink, tar, type UnpackSandbox } from '../../../test/support/unpack-sandbox.js';
import { type ErrorCode } from '../../core/index.js';
import type { UnpackTar } from './unpack-source.js';

let box: UnpackSandbox;

beforeEach(() => {
  box = createSandbox();
});

afterEach(() => box.close());

describe('unpackPackage: the layers of an image', () => {
  it('as one tree', async () => {
    const lower = tar(
      folder('d/', { mtime: 1000 }),
      { name: 'd/gone', content: '0' },
      { name: 'd/kept', content: '0' },
      { name: 'file', content: '0' },
      { name: 'opaque/x', content: '0' },
    );
    const upper = tar(
      { name: 'd/.wh.gone' },
      { name: 'file', content: '1' },
      folder('opaque/'),
      { name: 'opaque/.wh..wh..opq' },
      { name: 'opaque/y', content: '1' },
      { name: '/etc/x', content: '1' },
    );
    const result = await box.unpackImage([lower, upper]);
    expect(result).toEqual({ files: 4, bytes: 4, findings: [] });
    expect(box.tree()).toEqual(['d/', 'd/kept: 0', 'etc/', 'etc/x: 1', 'file: 1', 'opaque/', 'opaque/y: 1']);
    expect(statSync(join(box.target, 'd')).mtimeMs).toBe(1_000_000);
  });

  it('reading each once, unless a hard link needs what an upper layer hides', async () => {
    const opened = [0, 0];
    const counted = (index: 0 | 1, source: UnpackTar): UnpackTar => ({
      ...source,
      open: () => ((opened[index] = (opened[index] ?? 0) + 1), source.open()),
    });
    await box.unpackImage([
      counted(0, tar({ name: 'a', content: 'old' }, hardlink('b', 'a'), hardlink('c', 'b'))),
      counted(1, tar({ name: 'a', content: 'new' }, hardlink('d', 'a'))),
    ]);
    expect(box.tree()).toEqual(['a: new', 'b: old', 'c: old', 'd: new']);
    expect(opened).toEqual([2, 1]);
  });

  it('without devices and set-id bits', async () => {
    const { findings } = await box.unpackImage([tar({ name: 'null', type: '3' }, { name: 'p', type: '6' }, { name: 'su', mode: 0o4755 })]);
    expect(box.tree()).toEqual(['su: ']);
    expect(statSync(join(box.target, 'su')).mode & 0o7777).toBe(0o755 & ~box.umask());
    expect(findings.map(({ message }) => message)).toEqual([expect.stringMatching(/"null".*character-device/), expect.stringMatching(/"p".*fifo/)]);
  });

  it('with links kept inside the root', async () => {
    const { findings } = await box.unpackImage([
      tar(
        { name: 'usr/lib/so', content: 'S' },
        symlink('lib', 'usr/lib'),
        symlink('usr/abs', '/usr/lib/so'),
        symlink('root', '/'),
        symlink('out', '../sentinel'),
        symlink('up', '/../sentinel'),
        symlink('loop', 'loop'),
        symlink('a/twice', '../lib/../../../x'),
      ),
    ]);
    expect(box.tree()).toEqual(['lib -> usr/lib', 'root -> .', 'usr/', 'usr/abs -> ../usr/lib/so', 'usr/lib/', 'usr/lib/so: S']);
    expect(readFileSync(join(box.target, 'usr/abs'), 'utf8')).toBe('S');
    expect(findings).toHaveLength(4);
  });

  it('with hard links to links, and without those that lead nowhere', async () => {
    const { findings } = await box.unpackImage([
      tar({ name: 'a' }, symlink('l', 'a'), hardlink('m', 'l'), hardlink('n', '../sentinel'), hardlink('o', 'p'), hardlink('p', 'o')),
    ]);
    expect(box.tree()).toEqual(['a: ', 'l -> a', 'm -> a']);
    expect(findings).toHaveLength(3);
  });

  it('of equal names in one layer the last', async () => {
    const result = await box.unpackImage([
      tar(
        { name: 'a', content: 'first' },
        { name: 'a', content: '2' },
        symlink('l', 'a'),
        { name: 'l', content: 'L' },
        folder('d/'),
        folder('d/'),
        { name: 'x', content: 'X' },
        symlink('x', 'a'),
      ),
    ]);
    expect(box.tree()).toEqual(['a: 2', 'd/', 'l: L', 'x -> a']);
    expect(result).toMatchObject({ files: 3, bytes: 2 });
  });

  it('placed and selected', async () => {
    const place = (name: string) => (name.startsWith('models/') ? name.slice(7) : undefined);
    const { findings } = await box.unpackImage(
      [
        {
          ...tar(
            { name: 'models/a', content: 'A' },
            { name: 'models/b' },
            { name: 'etc/x' },
            symlink('models/l', '/models/a'),
            symlink('models/m', '/etc/x'),
            folder('models/'),
          ),
          place,
        },
        { ...tar({ name: 'models/.wh.b' }), place },
        file('raw'),
      ],
      { select: (path) => path !== 'raw' },
    );
    expect(box.tree()).toEqual(['a: A', 'l -> a']);
    expect(findings).toHaveLength(1);
  });

  it.each([
    ['A1', [{ name: '../x' }], 'bytes/unsafe-path'],
    ['A1', [{ name: 'a/../../x' }], 'bytes/unsafe-path'],
    ['A3', [symlink('l', '/etc'), { name: 'l/x' }], 'bytes/refused-entry'],
    ['A14', [{ name: 'a' }, { name: 'a/b' }], 'bytes/refused-entry'],
    ['A15', [{ name: 'c'.repeat(256) }], 'bytes/unsafe-path'],
    ['a whiteout of the folder above', [{ name: 'a/.wh...' }], 'bytes/refused-entry'],
    ['a whiteout of nothing', [{ name: '.wh.' }], 'bytes/refused-entry'],
  ] as [string, RawEntry[], ErrorCode][])('refusing %s', async (_row, entries, code) => {
    expect(await box.refusal(box.unpackImage([tar({ name: 'good' }, ...entries)]))).toMatchObject(failure(code, /Cannot/));
  });

  it('never writing through a link of a lower or an upper layer (A3, A4)', async () => {
    await box.unpackImage([tar(symlink('l', '..')), tar({ name: 'l/sentinel', content: 'inside' })]);
    expect(box.tree()).toEqual(['l/', 'l/sentinel: inside']);
    rmSync(box.target, { recursive: true });
    await box.unpackImage([tar({ name: 'l/sentinel', content: 'inside' }), tar(symlink('l', '/'))]);
    expect(box.tree()).toEqual(['l -> .']);
  });

  it('with a folder that nobody may enter', async () => {
    await box.unpackImage([tar(folder('d/', { mode: 0 }), { name: 'd/a' })]);
    expect(lstatSync(join(box.target, 'd')).mode & 0o777).toBe(0o700);
    chmodSync(join(box.target, 'd'), 0o700);
    utimesSync(join(box.target, 'd'), 1, 1);
  });
});
