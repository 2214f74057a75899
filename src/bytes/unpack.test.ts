import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rawTar, type RawEntry } from '../../test/support/raw-tar.js';
import { type ByteStream, createCounters, createError, defaultLimits, type ErrorCode } from '../core/index.js';
import { temporaryName } from './durable.js';
import { fromBytes } from './streams.js';
import { type UnpackFile, type UnpackOptions, unpackPackage, type UnpackResult, type UnpackSource, type UnpackTar } from './unpack.js';

let base: string;
let target: string;

/** A secret beside the target, and nothing else: whatever else appears there was written outside. */
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'unpack-'));
  target = join(base, 'target');
  writeFileSync(join(base, 'sentinel'), 'untouched');
});

afterEach(() => {
  expect(readFileSync(join(base, 'sentinel'), 'utf8')).toBe('untouched');
  expect(readdirSync(base).filter((name) => name !== 'sentinel' && name !== 'target')).toEqual([]);
  rmSync(base, { recursive: true, force: true });
});

const tar = (...entries: RawEntry[]): UnpackTar => tarOf(rawTar(...entries));
const tarOf = (bytes: Uint8Array): UnpackTar => ({ kind: 'tar', where: 'model.tar', open: async () => fromBytes(bytes) });
const file = (path: string, content = path, more: Partial<UnpackFile> = {}): UnpackFile => ({ kind: 'file', path, size: Buffer.byteLength(content), open: async () => fromBytes(Buffer.from(content)), ...more });
const symlink = (name: string, linkName: string): RawEntry => ({ name, type: '2', linkName });
const hardlink = (name: string, linkName: string): RawEntry => ({ name, type: '1', linkName });
const folder = (name: string, more: Partial<RawEntry> = {}): RawEntry => ({ name, type: '5', ...more });

function unpack(sources: UnpackSource[], options: Partial<UnpackOptions> = {}): Promise<UnpackResult> {
  return unpackPackage(sources, target, { policy: 'package', limits: defaultLimits, ...options });
}

const unpackImage = (sources: UnpackSource[], options: Partial<UnpackOptions> = {}) => unpack(sources, { policy: 'image', ...options });

async function refused(work: Promise<unknown>, code: ErrorCode, message: RegExp): Promise<void> {
  await expect(work).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  expect(existsSync(target)).toBe(false);
}

/** Every file with its content, `path/` for folders, `path -> target` for links. */
function tree(root = target): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((found) => {
      const path = join(found.parentPath, found.name);
      const name = path.slice(root.length + 1);
      if (found.isSymbolicLink()) return `${name} -> ${readlinkSync(path)}`;
      return found.isDirectory() ? `${name}/` : `${name}: ${readFileSync(path, 'utf8')}`;
    })
    .sort();
}

describe('unpackPackage: what it puts on disk', () => {
  it('files, archives, folders, with modes and times', async () => {
    const archive = tar(folder('./dir/', { mode: 0o750, mtime: 1000 }), { name: './dir/a', content: 'A', mode: 0o755, mtime: 2000 }, { name: 'b', content: '', mode: 0o600 }, folder('empty/'));
    const result = await unpack([file('raw/config.json', '{}', { mode: 0o640, mtime: 3000.5 }), archive, file('plain')]);
    expect(result).toEqual({ files: 4, bytes: 8, findings: [] });
    expect(tree()).toEqual(['b: ', 'dir/', 'dir/a: A', 'empty/', 'plain: plain', 'raw/', 'raw/config.json: {}']);
    const stat = (path: string) => ({ mode: statSync(join(target, path)).mode & 0o7777, mtime: statSync(join(target, path)).mtimeMs / 1000 });
    expect(stat('dir')).toEqual({ mode: 0o750, mtime: 1000 });
    expect(stat('dir/a')).toEqual({ mode: 0o755, mtime: 2000 });
    expect(stat('b').mode).toBe(0o600);
    expect(stat('raw/config.json')).toEqual({ mode: 0o640, mtime: 3000.5 });
  });

  it('nothing at all, for a package without files', async () => {
    expect(await unpack([tar(folder('./'))])).toEqual({ files: 0, bytes: 0, findings: [] });
    expect(tree()).toEqual([]);
  });

  it('large files, several at a time, each whole', async () => {
    const content = Buffer.alloc(3_000_000, 'x');
    const open = async function* (): ByteStream {
      for (let at = 0; at < content.length; at += 700_000) yield content.subarray(at, at + 700_000);
    };
    const counters = createCounters();
    const sources = ['a', 'b', 'c', 'd', 'e', 'f'].map((path): UnpackFile => ({ kind: 'file', path, size: content.length, open: async () => open() }));
    expect(await unpack([...sources, tar({ name: 'g', content })], { counters })).toMatchObject({ files: 7, bytes: 21_000_000 });
    expect(counters.written).toBe(21_000_000);
    for (const name of ['a', 'f', 'g']) expect(readFileSync(join(target, name)).equals(content)).toBe(true);
  });

  it('only what is selected, also when a hard link needs a file that is not', async () => {
    const archive = tar({ name: 'a', content: 'A' }, { name: 'b', content: 'B' }, hardlink('c', 'a'), hardlink('d', './a'), hardlink('e', 'b'));
    const result = await unpack([archive, file('f')], { select: (path) => ['c', 'd'].includes(path) });
    expect(result).toMatchObject({ files: 2, bytes: 1 });
    expect(tree()).toEqual(['c: A', 'd: A']);
  });

  it('entries where they are to be placed', async () => {
    const place = (name: string) => (name.startsWith('model/') ? name.slice(6) : undefined);
    await unpack([{ ...tar(folder('model/'), { name: 'model/a', content: 'A' }, { name: 'other', content: 'O' }, hardlink('model/b', 'other')), place: (name) => (name === 'model' ? undefined : place(name)) }]);
    expect(tree()).toEqual(['a: A', 'b: O']);
  });

  it('links inside the package, whatever the order', async () => {
    await unpack([tar(symlink('dir/link', '../data/file'), symlink('alias', 'dir'), { name: 'data/file', content: 'F' }, hardlink('hard', 'data/file'))]);
    expect(readFileSync(join(target, 'alias/link'), 'utf8')).toBe('F');
    expect(statSync(join(target, 'hard')).ino).toBe(statSync(join(target, 'data/file')).ino);
  });

  it('names with two dots inside, long names, and what a terminal should not see', async () => {
    const long = `${'d'.repeat(120)}/${'f'.repeat(200)}`;
    await unpack([tar({ name: 'a..b' }, { name: '..foo' }, { name: long }, { name: 'gpj\u202e.exe' })]);
    expect(tree()).toContain(`${long}: `);
    expect(readdirSync(target)).toEqual(expect.arrayContaining(['..foo', 'a..b', 'gpj\u202e.exe']));
  });

  it('progress, and a parent that is still to be made', async () => {
    const told: string[] = [];
    const progress = { start: (_task: string, item: string, total?: number) => ({ advance: (bytes: number) => told.push(`${item} ${bytes}`), done: () => told.push(`${item} of ${total}`) }) };
    await unpackPackage([file('a', 'abc')], join(target, 'x/y'), { policy: 'package', limits: defaultLimits, progress });
    expect(told).toEqual(['a 3', 'a of 3']);
    expect(tree()).toEqual(['x/', 'x/y/', 'x/y/a: abc']);
  });
});

describe('unpackPackage: what it refuses in a package', () => {
  it.each([
    ['A1', '../../x', '".."'],
    ['A1', 'a/../../x', '".."'],
    ['A1', '..\\x', 'backslash'],
    ['A1', 'a/..', '".."'],
    ['A2', '/etc/x', 'absolute'],
    ['A2', 'C:\\x', 'drive'],
    ['A2', 'C:x', 'drive'],
    ['A2', '\\\\srv\\x', 'backslash'],
    ['A2', '\\\\?\\x', 'backslash'],
    ['A2', '//x', 'absolute'],
    ['A2', './/x', 'absolute|dot'],
    ['A12', 'a\nb', 'control'],
    ['A12', '\x1b[2J', 'control'],
    ['A12', 'a\ufffd', 'UTF-8'],
    ['A15', 'n'.repeat(5000), '4096'],
    ['A15', `${'a/'.repeat(300)}x`, '128'],
    ['A15', 'c'.repeat(256), '255'],
  ])('%s: the path %j', async (_row, name, reason) => {
    const message = new RegExp(reason);
    await refused(unpack([tar({ name: 'good', content: 'x' }, { name, content: 'x' })]), 'bytes/unsafe-path', message);
    await refused(unpack([file('good'), file(name)]), 'bytes/unsafe-path', message);
    await refused(unpack([{ ...tar({ name: 'good' }), place: () => name }]), 'bytes/unsafe-path', message);
  });

  it.each(['', '.'])('A1: the path %j', async (path) => {
    await refused(unpack([file(path)]), 'bytes/unsafe-path', /Cannot use the path/);
    if (path !== '') await refused(unpack([tar({ name: path })]), 'bytes/unsafe-path', /empty/);
  });

  it.each([
    ['A3: a link out and a file through it', [symlink('l', '/etc'), { name: 'l/x' }], /both a file and a folder/],
    ['A3: a file and then a link over its folder', [{ name: 'l/x' }, symlink('l', '..')], /both a file and a folder/],
    ['A3: a link to the outside', [symlink('l', '../sentinel')], /"l".*leads out/],
    ['A3: an absolute link', [symlink('l', '/etc/passwd')], /"l".*absolute/],
    ['A3: a link out through another link', [folder('d/'), symlink('d/up', '..'), symlink('e/l', '../d/up/../sentinel')], /leads out/],
    ['A5: a hard link to the outside', [hardlink('h', '../sentinel')], /hard link to "..\/sentinel"/],
    ['A5: a hard link to an absolute path', [hardlink('h', '/etc/passwd')], /hard link to "\/etc\/passwd"/],
    ['A5: a hard link through a link', [symlink('l', '.'), { name: 'a' }, hardlink('h', 'l/a')], /hard link to "l\/a"/],
    ['A5: a hard link to a link', [symlink('l', 'a'), hardlink('h', 'l')], /no file that stands before it/],
    ['A5: a hard link to what comes later', [hardlink('h', 'a'), { name: 'a' }], /no file that stands before it/],
    ['A5: a hard link to itself', [hardlink('h', 'h')], /no file that stands before it/],
    ['A6: a link to itself', [symlink('l', 'l')], /loop/],
    ['A6: a loop', [symlink('a', 'b'), symlink('b', 'a')], /loop/],
    ['A6: a chain of a thousand links', Array.from({ length: 1000 }, (_, index) => symlink(`l${index}`, `l${index + 1}`)), /chain/],
    ['A7: a character device', [{ name: 'null', type: '3' }], /"null".*character-device/],
    ['A7: a block device', [{ name: 'sda', type: '4' }], /block-device/],
    ['A7: a fifo', [{ name: 'p', type: '6' }], /fifo/],
    ['A8: a setuid file', [{ name: 'su', mode: 0o4755 }], /"su".*set-id/],
    ['A8: a setgid file', [{ name: 'sg', mode: 0o2755 }], /set-id/],
    ['A9: a duplicate', [{ name: 'a', content: '1' }, { name: './a', content: '2' }], /"a".*twice/],
    ['A9: a duplicate of the same content', [{ name: 'a' }, { name: 'a' }], /twice/],
    ['A9: a link over a file', [{ name: 'a' }, symlink('a', 'b')], /twice/],
    ['A14: a file and then a folder', [{ name: 'a' }, { name: 'a/b' }], /"a" is both/],
    ['A14: a folder and then a file', [{ name: 'a/b' }, { name: 'a' }], /"a" is both/],
    ['A14: a named folder and a file', [folder('a/'), { name: 'a' }], /"a" is both/],
  ] as [string, RawEntry[], RegExp][])('%s', async (_row, entries, message) => {
    await refused(unpack([tar({ name: 'good' }, ...entries)]), 'bytes/refused-entry', message);
  });

  it('A4: a link in one archive and a file through it in another', async () => {
    await refused(unpack([tar(symlink('l', '..')), tar({ name: 'l/sentinel', content: 'owned' })]), 'bytes/refused-entry', /both a file and a folder/);
    await refused(unpack([tar(symlink('l', '..')), file('l/sentinel', 'owned')]), 'bytes/refused-entry', /both a file and a folder/);
  });

  it('A4: a link that stood in the folder before', async () => {
    mkdirSync(target);
    symlinkSync('..', join(target, 'l'));
    await expect(unpack([tar({ name: 'l/sentinel', content: 'owned' })], { overwrite: true })).rejects.toMatchObject({ code: 'bytes/exists' });
    expect(readdirSync(target)).toEqual(['l']);
  });

  it('A5: a hard link to a file of another archive', async () => {
    await refused(unpack([file('a'), tar(hardlink('h', 'a'))]), 'bytes/refused-entry', /no file that stands before it/);
  });

  it('A8: takes neither sticky bits, nor set-id bits of folders, nor what the umask forbids, nor owners', async () => {
    await unpack([tar(folder('d/', { mode: 0o6777, uid: 12_345, gid: 12_345 }), { name: 'a', mode: 0o1666, uid: 12_345, gid: 12_345 })]);
    const umask = process.umask();
    expect(statSync(join(target, 'd')).mode & 0o7777).toBe(0o777 & ~umask);
    expect(statSync(join(target, 'a')).mode & 0o7777).toBe(0o666 & ~umask);
    expect(statSync(join(target, 'a')).uid).toBe(process.getuid?.());
  });

  it('A8: gives files away only when told to, and says so when it may not', async () => {
    const work = unpack([tar(folder('d/', { uid: 12_345, gid: 12_346 }), { name: 'a', uid: 12_345, gid: 12_346 }), tar(symlink('l', 'a'))], { sameOwner: true });
    if (process.getuid?.() !== 0) return refused(work, 'bytes/io', /not permitted/);
    await work;
    for (const path of ['a', 'd']) expect(lstatSync(join(target, path))).toMatchObject({ uid: 12_345, gid: 12_346 });
    expect(lstatSync(join(target, 'l'))).toMatchObject({ uid: 0, gid: 0 });
  });

  it('A9: the same path twice over all sources, and the set-id bit of a raw file', async () => {
    await refused(unpack([file('a', '1'), file('a', '2')]), 'bytes/refused-entry', /twice/);
    await refused(unpack([file('w', 'weights'), tar({ name: 'w', content: 'x' })]), 'bytes/refused-entry', /"w" of model.tar.*twice/);
    await refused(unpack([tar({ name: 'w' }), tar({ name: 'w' })]), 'bytes/refused-entry', /twice/);
    await refused(unpack([file('a', 'x', { mode: 0o4755 })]), 'bytes/refused-entry', /set-id/);
  });

  it('A10, A11: takes names that differ in case or Unicode form, where the disk does', async () => {
    await unpack([tar({ name: 'A', content: '1' }, { name: 'a', content: '2' }, { name: '\u00e9', content: '3' }, { name: 'e\u0301', content: '4' })]);
    expect(readdirSync(target)).toHaveLength(4);
  });

  it('A16 to A18: damaged archives', async () => {
    const bytes = rawTar({ name: 'a', content: 'x'.repeat(1000) }, { name: 'b' });
    const broken = Buffer.from(bytes);
    broken[0] = 0x62;
    await refused(unpack([tarOf(bytes.subarray(0, 700))]), 'bytes/bad-archive', /cut off/);
    await refused(unpack([tarOf(bytes.subarray(0, -1024))]), 'bytes/bad-archive', /cut off/);
    await refused(unpack([tarOf(broken)]), 'bytes/bad-archive', /checksum/);
    await refused(unpack([tarOf(Buffer.concat([bytes, rawTar({ name: 'c' })]))]), 'bytes/bad-archive', /after its end/);
  });

  it('A19: more entries than the limit, over all sources', async () => {
    const limits = { ...defaultLimits, archiveEntries: 3 };
    await refused(unpack([tar({ name: 'a' }, { name: 'b' }), tar({ name: 'c' }), file('d')], { limits }), 'bytes/limit', /more than 3/);
  });

  it('what is wrong, even when it is neither selected nor placed', async () => {
    await refused(unpack([tar({ name: '../x' })], { select: () => false }), 'bytes/unsafe-path', /"\.\."/);
    await refused(unpack([{ ...tar({ name: 'p', type: '6' }), place: () => undefined }]), 'bytes/refused-entry', /fifo/);
  });

  it('with the name of the entry spelled out', async () => {
    await refused(unpack([tar({ name: 'a\u202eb', mode: 0o4755 })]), 'bytes/refused-entry', /"a\\u\{202e\}b" of model\.tar/);
  });
});

describe('unpackPackage: failures leave nothing', () => {
  async function* failing(): ByteStream {
    yield Buffer.from('half');
    throw createError('bytes/digest-mismatch', { message: 'Cannot use the layer: wrong digest' });
  }

  it('bytes that turn out wrong', async () => {
    await refused(unpack([file('good'), { ...file('bad', 'half'), open: async () => failing() }]), 'bytes/digest-mismatch', /wrong digest/);
    const damaged = async function* (): ByteStream {
      yield rawTar({ name: 'a', content: 'A' });
      yield* failing();
    };
    await refused(unpack([{ ...tar(), open: async () => damaged() }]), 'bytes/digest-mismatch', /wrong digest/);
  });

  it.each(['ab', 'abcd'])('bytes that are not three but %s', async (content) => {
    await refused(unpack([file('a', content, { size: 3 })]), 'bytes/size-mismatch', /expected 3 bytes/);
  });

  it('a source that cannot be opened, while others are under way', async () => {
    const open = async () => {
      throw createError('oci/not-found', { message: 'Cannot fetch the layer: it is missing' });
    };
    const endless = async function* (): ByteStream {
      for (;;) yield await new Promise<Uint8Array>((resolve) => setImmediate(() => resolve(Buffer.alloc(1))));
    };
    await refused(unpack([{ ...file('e'), size: 2 ** 40, open: async () => endless() }, { ...file('a'), open }, file('b')]), 'oci/not-found', /missing/);
  });

  it('a signal', async () => {
    const controller = new AbortController();
    const open = async function* (): ByteStream {
      yield Buffer.from('a');
      controller.abort();
      yield Buffer.from('b');
    };
    await refused(unpack([{ ...file('a', 'ab'), open: async () => open() }], { signal: controller.signal }), 'core/cancelled', /cancelled/);
  });

  it('a place that cannot be written', async () => {
    writeFileSync(target, 'a file');
    await expect(unpack([file('a')])).rejects.toMatchObject({ code: 'bytes/exists' });
    await expect(unpackPackage([file('a')], join(target, 'x'), { policy: 'package', limits: defaultLimits })).rejects.toMatchObject({ code: 'bytes/not-found' });
    expect(readFileSync(target, 'utf8')).toBe('a file');
  });

  it('a link to nothing where the target should be', async () => {
    symlinkSync('nowhere', target);
    await expect(unpack([file('a')])).rejects.toMatchObject({ code: 'bytes/exists' });
  });
});

describe('unpackPackage: into an existing folder', () => {
  beforeEach(() => mkdirSync(target));

  it('keeps an empty folder and fills it', async () => {
    const { ino } = statSync(target);
    await unpack([file('d/a')]);
    expect(tree()).toEqual(['d/', 'd/a: d/a']);
    expect(statSync(target).ino).toBe(ino);
  });

  it('takes a folder for empty that holds only what a crashed run left', async () => {
    const left = temporaryName(join(target, 'x')).replace(String(process.pid), '999999999');
    mkdirSync(left);
    await unpack([file('a')]);
    expect(readdirSync(target)).toContain('a');
  });

  it('refuses one that holds something', async () => {
    writeFileSync(join(target, 'mine'), 'mine');
    await expect(unpack([file('a')])).rejects.toMatchObject({ code: 'bytes/exists', hint: expect.stringMatching(/overwriting/) });
    expect(tree()).toEqual(['mine: mine']);
  });

  it('replaces files and links of the same name and keeps the others', async () => {
    mkdirSync(join(target, 'd/new'), { recursive: true });
    for (const path of ['a', 'd/old', 'mine']) writeFileSync(join(target, path), 'old');
    symlinkSync('../sentinel', join(target, 'link'));
    await unpack([tar(folder('d/', { mtime: 5000 }), { name: 'a', content: 'A' }, { name: 'd/b', content: 'B' }, { name: 'd/new/c', content: 'C' }, { name: 'link', content: 'L' }, symlink('to', 'a'))], { overwrite: true });
    expect(tree()).toEqual(['a: A', 'd/', 'd/b: B', 'd/new/', 'd/new/c: C', 'd/old: old', 'link: L', 'mine: old', 'to -> a']);
    expect(statSync(join(target, 'd')).mtimeMs).toBe(5_000_000);
  });

  it.each([
    ['a file where the package has a folder', 'a/b'],
    ['a folder where the package has a file', 'd'],
  ])('changes nothing when there is %s', async (_what, path) => {
    mkdirSync(join(target, 'd'));
    writeFileSync(join(target, 'a'), 'old');
    writeFileSync(join(target, 'b'), 'old');
    await expect(unpack([file('b', 'new'), file(path)], { overwrite: true })).rejects.toMatchObject({ code: 'bytes/exists' });
    expect(tree()).toEqual(['a: old', 'b: old', 'd/']);
  });

  it('changes nothing when bytes turn out wrong', async () => {
    writeFileSync(join(target, 'a'), 'old');
    await expect(unpack([file('a', 'new'), file('b', 'x', { size: 2 })], { overwrite: true })).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
    expect(tree()).toEqual(['a: old']);
  });
});

describe('unpackPackage: the layers of an image', () => {
  it('as one tree', async () => {
    const lower = tar(folder('d/', { mtime: 1000 }), { name: 'd/gone', content: '0' }, { name: 'd/kept', content: '0' }, { name: 'file', content: '0' }, { name: 'opaque/x', content: '0' });
    const upper = tar({ name: 'd/.wh.gone' }, { name: 'file', content: '1' }, folder('opaque/'), { name: 'opaque/.wh..wh..opq' }, { name: 'opaque/y', content: '1' }, { name: '/etc/x', content: '1' });
    const result = await unpackImage([lower, upper]);
    expect(result).toEqual({ files: 4, bytes: 4, findings: [] });
    expect(tree()).toEqual(['d/', 'd/kept: 0', 'etc/', 'etc/x: 1', 'file: 1', 'opaque/', 'opaque/y: 1']);
    expect(statSync(join(target, 'd')).mtimeMs).toBe(1_000_000);
  });

  it('reading each once, unless a hard link needs what an upper layer hides', async () => {
    const opened = [0, 0];
    const counted = (index: 0 | 1, source: UnpackTar): UnpackTar => ({ ...source, open: () => ((opened[index] = (opened[index] ?? 0) + 1), source.open()) });
    await unpackImage([counted(0, tar({ name: 'a', content: 'old' }, hardlink('b', 'a'), hardlink('c', 'b'))), counted(1, tar({ name: 'a', content: 'new' }, hardlink('d', 'a')))]);
    expect(tree()).toEqual(['a: new', 'b: old', 'c: old', 'd: new']);
    expect(opened).toEqual([2, 1]);
  });

  it('without devices and set-id bits', async () => {
    const { findings } = await unpackImage([tar({ name: 'null', type: '3' }, { name: 'p', type: '6' }, { name: 'su', mode: 0o4755 })]);
    expect(tree()).toEqual(['su: ']);
    expect(statSync(join(target, 'su')).mode & 0o7777).toBe(0o755 & ~process.umask());
    expect(findings.map(({ message }) => message)).toEqual([expect.stringMatching(/"null".*character-device/), expect.stringMatching(/"p".*fifo/)]);
  });

  it('with links kept inside the root', async () => {
    const { findings } = await unpackImage([
      tar({ name: 'usr/lib/so', content: 'S' }, symlink('lib', 'usr/lib'), symlink('usr/abs', '/usr/lib/so'), symlink('root', '/'), symlink('out', '../sentinel'), symlink('up', '/../sentinel'), symlink('loop', 'loop'), symlink('a/twice', '../lib/../../../x')),
    ]);
    expect(tree()).toEqual(['lib -> usr/lib', 'root -> .', 'usr/', 'usr/abs -> ../usr/lib/so', 'usr/lib/', 'usr/lib/so: S']);
    expect(readFileSync(join(target, 'usr/abs'), 'utf8')).toBe('S');
    expect(findings).toHaveLength(4);
  });

  it('with hard links to links, and without those that lead nowhere', async () => {
    const { findings } = await unpackImage([tar({ name: 'a' }, symlink('l', 'a'), hardlink('m', 'l'), hardlink('n', '../sentinel'), hardlink('o', 'p'), hardlink('p', 'o'))]);
    expect(tree()).toEqual(['a: ', 'l -> a', 'm -> a']);
    expect(findings).toHaveLength(3);
  });

  it('of equal names in one layer the last', async () => {
    const result = await unpackImage([tar({ name: 'a', content: 'first' }, { name: 'a', content: '2' }, symlink('l', 'a'), { name: 'l', content: 'L' }, folder('d/'), folder('d/'), { name: 'x', content: 'X' }, symlink('x', 'a'))]);
    expect(tree()).toEqual(['a: 2', 'd/', 'l: L', 'x -> a']);
    expect(result).toMatchObject({ files: 3, bytes: 2 });
  });

  it('placed and selected', async () => {
    const place = (name: string) => (name.startsWith('models/') ? name.slice(7) : undefined);
    const { findings } = await unpackImage([{ ...tar({ name: 'models/a', content: 'A' }, { name: 'models/b' }, { name: 'etc/x' }, symlink('models/l', '/models/a'), symlink('models/m', '/etc/x'), folder('models/')), place }, { ...tar({ name: 'models/.wh.b' }), place }, file('raw')], { select: (path) => path !== 'raw' });
    expect(tree()).toEqual(['a: A', 'l -> a']);
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
    await refused(unpackImage([tar({ name: 'good' }, ...entries)]), code, /Cannot/);
  });

  it('never writing through a link of a lower or an upper layer (A3, A4)', async () => {
    await unpackImage([tar(symlink('l', '..')), tar({ name: 'l/sentinel', content: 'inside' })]);
    expect(tree()).toEqual(['l/', 'l/sentinel: inside']);
    rmSync(target, { recursive: true });
    await unpackImage([tar({ name: 'l/sentinel', content: 'inside' }), tar(symlink('l', '/'))]);
    expect(tree()).toEqual(['l -> .']);
  });

  it('with a folder that nobody may enter', async () => {
    await unpackImage([tar(folder('d/', { mode: 0 }), { name: 'd/a' })]);
    expect(lstatSync(join(target, 'd')).mode & 0o777).toBe(0o700);
    chmodSync(join(target, 'd'), 0o700);
    utimesSync(join(target, 'd'), 1, 1);
  });
});
