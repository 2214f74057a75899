import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox, file, folder, symlink, tar, type UnpackSandbox } from '../../../test/support/unpack-sandbox.js';
import { createCounters, defaultLimits } from '../../core/index.js';
import { cloneTree, type CloneTreeOptions, readSharedTree, type SharedEntry } from './shared-tree.js';
import { unpackPackage } from './unpack.js';

let box: UnpackSandbox;
let tree: string;
beforeEach(async () => {
  box = createSandbox();
  tree = join(box.target, 'tree');
  mkdirSync(box.target);
  const sources = [
    file('raw.bin', 'raw', { mode: 0o755, mtime: 4000 }),
    tar(folder('dir/', { mode: 0o750, mtime: 1000 }), { name: 'dir/a', content: 'A', mode: 0o666 }, symlink('dir/to', 'a'), folder('empty/')),
  ];
  await unpackPackage(sources, tree, { policy: 'package', limits: defaultLimits, sharing: { findFile: () => undefined } });
});
afterEach(() => box.close());

const clone = (options: CloneTreeOptions = {}) => cloneTree(tree, readSharedTree(tree) as SharedEntry[], join(box.target, 'out'), options);
const stateOf = (path: string) => {
  const { mode, mtimeMs, size } = lstatSync(path);
  return [mode, mtimeMs, size];
};

describe('a tree to be shared', () => {
  it('has no file that can be written to', () => {
    expect(readSharedTree(tree)?.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
      'directory dir',
      'file dir/a',
      'symlink dir/to',
      'directory empty',
      'file raw.bin',
    ]);
    expect([statSync(join(tree, 'raw.bin')).mode & 0o777, statSync(join(tree, 'dir/a')).mode & 0o777]).toEqual([0o555, 0o444]);
  });

  it('is none when it is not there, or when a file of it was made writable', () => {
    expect(readSharedTree(join(box.target, 'none'))).toBeUndefined();
    chmodSync(join(tree, 'dir/a'), 0o644);
    expect(readSharedTree(tree)).toBeUndefined();
  });
});

describe('cloneTree', () => {
  it('gives the same files, links, folders, modes and times, and writes nothing', async () => {
    const counters = createCounters();
    expect(await clone({ counters })).toEqual({ files: 3, bytes: 4, findings: [] });
    expect(counters).toEqual(createCounters());
    const paths = ['dir', 'dir/a', 'dir/to', 'empty', 'raw.bin'];
    expect(paths.map((path) => stateOf(join(box.target, 'out', path)))).toEqual(paths.map((path) => stateOf(join(tree, path))));
  });

  it('leaves the tree alone when the folders of a target change', async () => {
    await clone();
    rmSync(join(box.target, 'out/dir'), { recursive: true });
    writeFileSync(join(box.target, 'out/empty/mine'), 'mine');
    expect(readSharedTree(tree)).toHaveLength(5);
  });

  it('puts nothing there when it is cancelled, or a file is gone', async () => {
    await expect(clone({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'core/cancelled' });
    const entries = readSharedTree(tree) as SharedEntry[];
    rmSync(join(tree, 'raw.bin'));
    await expect(cloneTree(tree, entries, join(box.target, 'out'), {})).rejects.toMatchObject({ code: 'bytes/not-found' });
    expect(readdirSync(box.target)).toEqual(['tree']);
  });
});
