import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultLimits } from '../core/index.js';
import { readFolder, type ReadFolderOptions } from './folder-tree.js';
import { collect } from './streams.js';

let base: string;
let root: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'folder-tree-'));
  root = join(base, 'root');
  mkdirSync(root);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function put(path: string, content = path): void {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), content);
}

const read = (options: Partial<ReadFolderOptions> = {}) => readFolder(root, { limits: defaultLimits, ...options });
const text = async (stream: AsyncIterable<Uint8Array>) => Buffer.from(await collect(stream, 1000, 'test')).toString();

describe('readFolder', () => {
  it('lists files and folders by code units', async () => {
    for (const path of ['b', 'a/z', 'a.b', 'a/b/c', 'B', 'é', '\u{1f600}', '\uffee']) put(path);
    mkdirSync(join(root, 'empty'));
    const tree = await read();
    expect(tree.entries.map(({ path, kind }) => (kind === 'directory' ? `${path}/` : path))).toEqual([
      'B',
      'a/',
      'a.b',
      'a/b/',
      'a/b/c',
      'a/z',
      'b',
      'empty/',
      'é',
      '\u{1f600}',
      '\uffee',
    ]);
    expect(tree.problems).toEqual([]);
  });

  it('says size, mode, time and identity', async () => {
    put('a', 'four');
    chmodSync(join(root, 'a'), 0o4750);
    utimesSync(join(root, 'a'), 1_700_000_000, 1_700_000_000.5);
    const [entry] = (await read()).entries;
    expect(entry).toMatchObject({
      size: 4,
      mode: 0o750,
      mtime: 1_700_000_000,
      identity: { key: expect.stringContaining(':4:1700000000500000000:') as string },
    });
    expect(entry?.identity.changedMs).toBeCloseTo(Date.now(), -5);
  });

  it('leaves out what is ignored, and does not look below it', async () => {
    for (const path of ['keep', 'skip/deep/file', 'x.tmp']) put(path);
    const asked: string[] = [];
    const ignore = (path: string, isDirectory: boolean) => {
      asked.push(isDirectory ? `${path}/` : path);
      return path === 'skip' || path.endsWith('.tmp');
    };
    expect((await read({ ignore })).entries.map(({ path }) => path)).toEqual(['keep']);
    expect(asked.sort()).toEqual(['keep', 'skip/', 'x.tmp']);
  });

  it('follows links to files inside', async () => {
    put('real/data', 'content');
    symlinkSync('real/data', join(root, 'link'));
    const tree = await read();
    expect(tree.entries.find(({ path }) => path === 'link')).toMatchObject({ kind: 'file', size: 7 });
    expect(await text(await tree.open('link'))).toBe('content');
  });

  it.each([
    ['out', '../outside', /leads out/],
    ['dangling', 'nowhere', /to nothing/],
    ['loop', 'loop', /to nothing or to itself/],
    ['folder', 'dir', /not a file/],
    ['up', '.', /not a file/],
  ])('reports the link %s', async (name, target, message) => {
    writeFileSync(join(base, 'outside'), 'secret');
    put('dir/file');
    symlinkSync(target, join(root, name));
    const tree = await read();
    expect(tree.problems).toEqual([
      expect.objectContaining({ level: 'error', code: 'bytes/refused-entry', where: name, message: expect.stringMatching(message) }),
    ]);
    expect(tree.entries.map(({ path }) => path)).toEqual(['dir', 'dir/file']);
  });

  it('follows links to files anywhere when told so', async () => {
    writeFileSync(join(base, 'outside'), 'weights');
    symlinkSync('../outside', join(root, 'link'));
    const tree = await read({ links: 'anywhere' });
    expect(tree.problems).toEqual([]);
    expect(await text(await tree.open('link'))).toBe('weights');
  });

  it('reports pipes and names that no package may hold', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    put('back\\slash');
    writeFileSync(Buffer.from(`${root}/bad-\xff`, 'latin1'), '');
    const tree = await read();
    expect(tree.entries).toEqual([]);
    expect(tree.problems.map(({ code }) => code).sort()).toEqual(['bytes/refused-entry', 'bytes/unsafe-path', 'bytes/unsafe-path']);
  });

  it('opens files, ranges of them, and nothing else', async () => {
    put('a/b', '0123456789');
    const tree = await read();
    expect(await text(await tree.open('a/b'))).toBe('0123456789');
    expect(await text(await tree.open('a/b', { start: 2, end: 5 }))).toBe('234');
    for (const path of ['a', 'x', '../outside', '']) await expect(tree.open(path)).rejects.toMatchObject({ code: 'bytes/not-found' });
  });

  it('notices a file that has grown', async () => {
    put('a', 'short');
    const tree = await read();
    appendFileSync(join(root, 'a'), 'er');
    await expect(tree.open('a').then(text)).rejects.toMatchObject({ code: 'bytes/file-changed' });
  });

  it('stops at the limit, and at what is no folder', async () => {
    put('a');
    put('b');
    await expect(read({ limits: { ...defaultLimits, archiveEntries: 1 } })).rejects.toMatchObject({ code: 'bytes/limit' });
    await expect(readFolder(join(root, 'a'), { limits: defaultLimits })).rejects.toMatchObject({ code: 'bytes/not-found' });
    await expect(readFolder(join(root, 'none'), { limits: defaultLimits })).rejects.toMatchObject({ code: 'bytes/not-found' });
  });
});
