import fs, { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkbench, type FileMap, listFiles, readTree, tinyModel, toTree, type Workbench } from '../../test/support/workbench.js';
import { createCounters } from '../core/index.js';
import { copy, pack, prune, rm, unpack, type UnpackOptions } from './index.js';

const files: FileMap = { ...tinyModel, 'weights/large.bin': Buffer.alloc(2_000_000, 'weights '), 'data/link-me.csv': 'a,b\n' };
const readOnly = toTree(
  Object.fromEntries(
    Object.entries(files).map(([path, file]) => {
      const [content, mode] = typeof file === 'string' || file instanceof Uint8Array ? [file, 0o644] : file;
      return [path, [content, mode & 0o555] as const];
    }),
  ),
);

let bench: Workbench;
beforeEach(async () => {
  bench = createWorkbench();
  await pack({ dir: bench.write('model', files), format: 'modelpack', name: 'demo/tiny:v1' }, bench.context());
});
afterEach(() => bench.close());

async function share(output: string, more: Partial<UnpackOptions> = {}) {
  const counters = createCounters();
  const result = await unpack({ location: 'demo/tiny:v1', output: bench.path(output), shared: true, ...more }, bench.context({ counters }));
  return { result, counters };
}

const trees = () => join(bench.home, 'trees');
const inode = (path: string) => lstatSync(path).ino;

/** A file system that refuses to do `name`, so that what comes after is tried. */
async function refusing<T>(name: 'linkSync' | 'copyFileSync', code: string, work: () => Promise<T>): Promise<T> {
  const table = fs as unknown as Record<string, unknown>;
  const original = table[name] as (...args: unknown[]) => void;
  table[name] = (...args: unknown[]) => {
    // Locks are links too.
    if (String(args[1]).endsWith('.lock')) return original(...args);
    throw Object.assign(new Error('refused'), { code });
  };
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    table[name] = original;
    syncBuiltinESMExports();
  }
}

/** One that shares blocks, as far as a program can see: copies, which nobody counts as written. */
async function cloning<T>(work: () => Promise<T>): Promise<T> {
  const table = fs as unknown as { copyFileSync: (from: string, to: string, mode?: number) => void };
  const original = table.copyFileSync;
  table.copyFileSync = (from, to) => original(from, to);
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    table.copyFileSync = original;
    syncBuiltinESMExports();
  }
}

describe('unpack --shared', () => {
  it('gives the files of the package, read-only, and writes no raw layer', async () => {
    const { result, counters } = await refusing('copyFileSync', 'ENOTSUP', () => share('out'));
    expect(result).toMatchObject({ files: Object.keys(files).length, findings: [] });
    expect(readTree(bench.path('out'))).toEqual(readOnly);
    expect(counters.written).toBeLessThan(2_000_000);
    expect(inode(bench.path('out/weights/large.bin'))).toBe(inode(join(trees(), readdirSync(trees())[0] ?? '', 'weights/large.bin')));
    expect(lstatSync(bench.path('out/weights/large.bin')).nlink).toBeGreaterThanOrEqual(3);
  });

  it('writes nothing at all the second time, and reads nothing', async () => {
    const first = await share('one');
    const { result, counters } = await share('two');
    expect([counters.written, counters.hashed]).toEqual([0, expect.any(Number)]);
    expect(counters.hashed).toBeLessThan(2_000_000);
    expect({ ...result, path: '' }).toEqual({ ...first.result, path: '' });
    expect(readTree(bench.path('two'))).toEqual(readOnly);
    expect(readdirSync(trees())).toHaveLength(1);
  });

  it('gives every target files of its own where blocks can be shared', async () => {
    const { counters } = await cloning(() => share('out'));
    expect(counters.written).toBeLessThan(2_000_000);
    expect(readTree(bench.path('out'))).toEqual(readOnly);
    for (const path of Object.keys(files)) expect(lstatSync(bench.path('out', path)).nlink).toBe(1);
  });

  it('copies to another file system, and says so', async () => {
    await share('one');
    const { result, counters } = await refusing('copyFileSync', 'EXDEV', () => refusing('linkSync', 'EXDEV', () => share('two')));
    expect(counters.written).toBe(result.bytes);
    expect(readTree(bench.path('two'))).toEqual(readOnly);
    expect(result.findings).toMatchObject([{ level: 'note', code: 'bytes/not-shared', message: expect.stringContaining(`${result.bytes} bytes`) }]);
  });

  it('takes only what is wanted', async () => {
    await share('out', { include: ['**/*.csv', '*.json'], exclude: ['tokenizer.json'] });
    expect(listFiles(bench.path('out'))).toEqual(['config.json', 'data/link-me.csv', 'data/train.csv']);
  });

  it('refuses a folder that holds something, and keeps it', async () => {
    bench.write('mine', { mine: 'mine' });
    await expect(share('mine')).rejects.toMatchObject({ code: 'bytes/exists' });
    expect(existsSync(trees())).toBe(false);
    expect(await share('mine', { overwrite: true })).toMatchObject({ result: { files: Object.keys(files).length } });
    expect(readFileSync(bench.path('mine/mine'), 'utf8')).toBe('mine');
  });

  it('refuses what is not in the store, and says how to get it there', async () => {
    await copy({ source: 'demo/tiny:v1', destination: bench.path('tiny.tar') }, bench.context());
    await expect(share('out', { location: bench.path('tiny.tar') })).rejects.toMatchObject({
      code: 'ops/bad-option',
      hint: expect.stringMatching(/modelport copy .*tiny\.tar NAME/),
    });
    await expect(share('out', { sameOwner: true })).rejects.toMatchObject({ code: 'ops/bad-option' });
    expect(existsSync(bench.path('out'))).toBe(false);
  });

  it('puts nothing anywhere when a blob is damaged', async () => {
    const blobs = join(bench.home, 'blobs/sha256');
    const large = readdirSync(blobs).find((name) => statSync(join(blobs, name)).size === 2_000_000) ?? '';
    chmodSync(join(blobs, large), 0o644);
    writeFileSync(join(blobs, large), Buffer.alloc(2_000_000, 'damaged '));
    chmodSync(join(blobs, large), 0o444);
    await expect(share('out')).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect([existsSync(bench.path('out')), existsSync(trees())]).toEqual([false, false]);
  });

  it('makes the tree again when somebody could write to it', async () => {
    await share('one');
    const tree = join(trees(), readdirSync(trees())[0] ?? '');
    rmSync(join(tree, 'config.json'));
    writeFileSync(join(tree, 'config.json'), 'mine');
    await share('two');
    expect(readTree(bench.path('two'))).toEqual(readOnly);
  });

  it('outlives the package: prune removes the tree and not the files', async () => {
    await share('out');
    await rm({ names: ['demo/tiny:v1'] }, bench.context());
    await prune({}, bench.context());
    expect(
      readdirSync(bench.home)
        .filter((name) => name !== 'cache')
        .toSorted(),
    ).toEqual(['blobs', 'index.json', 'oci-layout']);
    expect(readTree(bench.path('out'))).toEqual(readOnly);
  });

  it('unpacks image trees and links too', async () => {
    await pack({ dir: bench.path('model'), format: 'modelpack', name: 'demo/draft:v1', vintage: 'draft-2024' }, bench.context());
    mkdirSync(bench.path('empty'));
    await share('empty', { location: 'demo/draft:v1' });
    await share('again', { location: 'demo/draft:v1' });
    expect(readTree(bench.path('again'))).toEqual(readTree(bench.path('empty')));
    expect(Object.keys(readTree(bench.path('again')))).toEqual(Object.keys(readOnly));
  });
});
