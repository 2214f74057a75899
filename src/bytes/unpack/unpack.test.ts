import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RawEntry, rawTar } from '../../../test/support/raw-tar.js';
import { createSandbox, failure, file, folder, hardlink, symlink, tar, tarOf, type UnpackSandbox } from '../../../test/support/unpack-sandbox.js';
import { type ByteStream, createCounters, defaultLimits } from '../../core/index.js';
import { unpackPackage } from './unpack.js';
import type { UnpackFile } from './unpack-source.js';

let box: UnpackSandbox;

beforeEach(() => {
  box = createSandbox();
});

afterEach(() => box.close());

describe('unpackPackage: what it puts on disk', () => {
  it('files, archives, folders, with modes and times', async () => {
    const archive = tar(
      folder('./dir/', { mode: 0o750, mtime: 1000 }),
      { name: './dir/a', content: 'A', mode: 0o755, mtime: 2000 },
      { name: 'b', content: '', mode: 0o600 },
      folder('empty/'),
    );
    const result = await box.unpack([file('raw/config.json', '{}', { mode: 0o640, mtime: 3000.5 }), archive, file('plain')]);
    expect(result).toEqual({ files: 4, bytes: 8, findings: [] });
    expect(box.tree()).toEqual(['b: ', 'dir/', 'dir/a: A', 'empty/', 'plain: plain', 'raw/', 'raw/config.json: {}']);
    const stat = (path: string) => ({ mode: statSync(join(box.target, path)).mode & 0o7777, mtime: statSync(join(box.target, path)).mtimeMs / 1000 });
    expect(stat('dir')).toEqual({ mode: 0o750, mtime: 1000 });
    expect(stat('dir/a')).toEqual({ mode: 0o755, mtime: 2000 });
    expect(stat('b').mode).toBe(0o600);
    expect(stat('raw/config.json')).toEqual({ mode: 0o640, mtime: 3000.5 });
  });

  it('nothing at all, for a package without files', async () => {
    expect(await box.unpack([tar(folder('./'))])).toEqual({ files: 0, bytes: 0, findings: [] });
    expect(box.tree()).toEqual([]);
  });

  it('large files, several at a time, each whole', async () => {
    const content = Buffer.alloc(3_000_000, 'x');
    const open = async function* (): ByteStream {
      for (let at = 0; at < content.length; at += 700_000) yield content.subarray(at, at + 700_000);
    };
    const counters = createCounters();
    const sources = ['a', 'b', 'c', 'd', 'e', 'f'].map((path): UnpackFile => ({
      kind: 'file',
      path,
      size: content.length,
      open: async () => open(),
    }));
    expect(await box.unpack([...sources, tar({ name: 'g', content })], { counters })).toMatchObject({ files: 7, bytes: 21_000_000 });
    expect(counters.written).toBe(21_000_000);
    for (const name of ['a', 'f', 'g']) expect(readFileSync(join(box.target, name)).equals(content)).toBe(true);
  });

  it('only what is selected, also when a hard link needs a file that is not', async () => {
    const archive = tar({ name: 'a', content: 'A' }, { name: 'b', content: 'B' }, hardlink('c', 'a'), hardlink('d', './a'), hardlink('e', 'b'));
    const result = await box.unpack([archive, file('f')], { select: (path) => ['c', 'd'].includes(path) });
    expect(result).toMatchObject({ files: 2, bytes: 1 });
    expect(box.tree()).toEqual(['c: A', 'd: A']);
  });

  it('entries where they are to be placed', async () => {
    const place = (name: string) => (name.startsWith('model/') ? name.slice(6) : undefined);
    await box.unpack([
      {
        ...tar(folder('model/'), { name: 'model/a', content: 'A' }, { name: 'other', content: 'O' }, hardlink('model/b', 'other')),
        place: (name) => (name === 'model' ? undefined : place(name)),
      },
    ]);
    expect(box.tree()).toEqual(['a: A', 'b: O']);
  });

  it('links inside the package, whatever the order', async () => {
    await box.unpack([
      tar(symlink('dir/link', '../data/file'), symlink('alias', 'dir'), { name: 'data/file', content: 'F' }, hardlink('hard', 'data/file')),
    ]);
    expect(readFileSync(join(box.target, 'alias/link'), 'utf8')).toBe('F');
    expect(statSync(join(box.target, 'hard')).ino).toBe(statSync(join(box.target, 'data/file')).ino);
  });

  it('names with two dots inside, long names, and what a terminal should not see', async () => {
    const long = `${'d'.repeat(120)}/${'f'.repeat(200)}`;
    await box.unpack([tar({ name: 'a..b' }, { name: '..foo' }, { name: long }, { name: 'gpj\u202e.exe' })]);
    expect(box.tree()).toContain(`${long}: `);
    expect(readdirSync(box.target)).toEqual(expect.arrayContaining(['..foo', 'a..b', 'gpj\u202e.exe']));
  });

  it('progress, and a parent that is still to be made', async () => {
    const told: string[] = [];
    const progress = {
      start: (_task: string, item: string, total?: number) => ({
        advance: (bytes: number) => told.push(`${item} ${bytes}`),
        done: () => told.push(`${item} of ${total}`),
      }),
    };
    await unpackPackage([file('a', 'abc')], join(box.target, 'x/y'), { policy: 'package', limits: defaultLimits, progress });
    expect(told).toEqual(['a 3', 'a of 3']);
    expect(box.tree()).toEqual(['x/', 'x/y/', 'x/y/a: abc']);
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
    expect(await box.refusal(box.unpack([tar({ name: 'good', content: 'x' }, { name, content: 'x' })]))).toMatchObject(
      failure('bytes/unsafe-path', message),
    );
    expect(await box.refusal(box.unpack([file('good'), file(name)]))).toMatchObject(failure('bytes/unsafe-path', message));
    expect(await box.refusal(box.unpack([{ ...tar({ name: 'good' }), place: () => name }]))).toMatchObject(failure('bytes/unsafe-path', message));
  });

  it.each(['', '.'])('A1: the path %j', async (path) => {
    expect(await box.refusal(box.unpack([file(path)]))).toMatchObject(failure('bytes/unsafe-path', /Cannot use the path/));
    if (path !== '') expect(await box.refusal(box.unpack([tar({ name: path })]))).toMatchObject(failure('bytes/unsafe-path', /empty/));
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
    [
      'A9: a duplicate',
      [
        { name: 'a', content: '1' },
        { name: './a', content: '2' },
      ],
      /"a".*twice/,
    ],
    ['A9: a duplicate of the same content', [{ name: 'a' }, { name: 'a' }], /twice/],
    ['A9: a link over a file', [{ name: 'a' }, symlink('a', 'b')], /twice/],
    ['A14: a file and then a folder', [{ name: 'a' }, { name: 'a/b' }], /"a" is both/],
    ['A14: a folder and then a file', [{ name: 'a/b' }, { name: 'a' }], /"a" is both/],
    ['A14: a named folder and a file', [folder('a/'), { name: 'a' }], /"a" is both/],
  ] as [string, RawEntry[], RegExp][])('%s', async (_row, entries, message) => {
    expect(await box.refusal(box.unpack([tar({ name: 'good' }, ...entries)]))).toMatchObject(failure('bytes/refused-entry', message));
  });

  it('A4: a link in one archive and a file through it in another', async () => {
    expect(await box.refusal(box.unpack([tar(symlink('l', '..')), tar({ name: 'l/sentinel', content: 'owned' })]))).toMatchObject(
      failure('bytes/refused-entry', /both a file and a folder/),
    );
    expect(await box.refusal(box.unpack([tar(symlink('l', '..')), file('l/sentinel', 'owned')]))).toMatchObject(
      failure('bytes/refused-entry', /both a file and a folder/),
    );
  });

  it('A4: a link that stood in the folder before', async () => {
    mkdirSync(box.target);
    symlinkSync('..', join(box.target, 'l'));
    await expect(box.unpack([tar({ name: 'l/sentinel', content: 'owned' })], { overwrite: true })).rejects.toMatchObject({ code: 'bytes/exists' });
    expect(readdirSync(box.target)).toEqual(['l']);
  });

  it('A5: a hard link to a file of another archive', async () => {
    expect(await box.refusal(box.unpack([file('a'), tar(hardlink('h', 'a'))]))).toMatchObject(
      failure('bytes/refused-entry', /no file that stands before it/),
    );
  });

  it('A8: takes neither sticky bits, nor set-id bits of folders, nor what the umask forbids, nor owners', async () => {
    await box.unpack([tar(folder('d/', { mode: 0o6777, uid: 12_345, gid: 12_345 }), { name: 'a', mode: 0o1666, uid: 12_345, gid: 12_345 })]);
    expect(statSync(join(box.target, 'd')).mode & 0o7777).toBe(0o777 & ~box.umask());
    expect(statSync(join(box.target, 'a')).mode & 0o7777).toBe(0o666 & ~box.umask());
    expect(statSync(join(box.target, 'a')).uid).toBe(process.getuid?.());
  });

  it('A8: gives files away only when told to, and says so when it may not', async () => {
    const work = box.unpack([tar(folder('d/', { uid: 12_345, gid: 12_346 }), { name: 'a', uid: 12_345, gid: 12_346 }), tar(symlink('l', 'a'))], {
      sameOwner: true,
    });
    if (process.getuid?.() !== 0) return expect(await box.refusal(work)).toMatchObject(failure('bytes/io', /not permitted/));
    await work;
    for (const path of ['a', 'd']) expect(lstatSync(join(box.target, path))).toMatchObject({ uid: 12_345, gid: 12_346 });
    expect(lstatSync(join(box.target, 'l'))).toMatchObject({ uid: 0, gid: 0 });
  });

  it('A9: the same path twice over all sources, and the set-id bit of a raw file', async () => {
    expect(await box.refusal(box.unpack([file('a', '1'), file('a', '2')]))).toMatchObject(failure('bytes/refused-entry', /twice/));
    expect(await box.refusal(box.unpack([file('w', 'weights'), tar({ name: 'w', content: 'x' })]))).toMatchObject(
      failure('bytes/refused-entry', /"w" of model.tar.*twice/),
    );
    expect(await box.refusal(box.unpack([tar({ name: 'w' }), tar({ name: 'w' })]))).toMatchObject(failure('bytes/refused-entry', /twice/));
    expect(await box.refusal(box.unpack([file('a', 'x', { mode: 0o4755 })]))).toMatchObject(failure('bytes/refused-entry', /set-id/));
  });

  it('A10, A11: takes names that differ in case or Unicode form, where the disk does', async () => {
    await box.unpack([
      tar({ name: 'A', content: '1' }, { name: 'a', content: '2' }, { name: '\u00e9', content: '3' }, { name: 'e\u0301', content: '4' }),
    ]);
    expect(readdirSync(box.target)).toHaveLength(4);
  });

  it('A16 to A18: damaged archives', async () => {
    const bytes = rawTar({ name: 'a', content: 'x'.repeat(1000) }, { name: 'b' });
    const broken = Buffer.from(bytes);
    broken[0] = 0x62;
    expect(await box.refusal(box.unpack([tarOf(bytes.subarray(0, 700))]))).toMatchObject(failure('bytes/bad-archive', /cut off/));
    expect(await box.refusal(box.unpack([tarOf(bytes.subarray(0, -1024))]))).toMatchObject(failure('bytes/bad-archive', /cut off/));
    expect(await box.refusal(box.unpack([tarOf(broken)]))).toMatchObject(failure('bytes/bad-archive', /checksum/));
    expect(await box.refusal(box.unpack([tarOf(Buffer.concat([bytes, rawTar({ name: 'c' })]))]))).toMatchObject(
      failure('bytes/bad-archive', /after its end/),
    );
  });

  it('A19: more entries than the limit, over all sources', async () => {
    const limits = { ...defaultLimits, archiveEntries: 3 };
    expect(await box.refusal(box.unpack([tar({ name: 'a' }, { name: 'b' }), tar({ name: 'c' }), file('d')], { limits }))).toMatchObject(
      failure('bytes/limit', /more than 3/),
    );
  });

  it('what is wrong, even when it is neither selected nor placed', async () => {
    expect(await box.refusal(box.unpack([tar({ name: '../x' })], { select: () => false }))).toMatchObject(failure('bytes/unsafe-path', /"\.\."/));
    expect(await box.refusal(box.unpack([{ ...tar({ name: 'p', type: '6' }), place: () => undefined }]))).toMatchObject(
      failure('bytes/refused-entry', /fifo/),
    );
  });

  it('with the name of the entry spelled out', async () => {
    expect(await box.refusal(box.unpack([tar({ name: 'a\u202eb', mode: 0o4755 })]))).toMatchObject(
      failure('bytes/refused-entry', /"a\\u\{202e\}b" of model\.tar/),
    );
  });
});
