import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDistantBlob, type DistantBlob, type DistantOptions } from '../../../test/support/distant-blob.js';
import { listTree } from '../../../test/support/list-tree.js';
import { file, tar } from '../../../test/support/unpack-sandbox.js';
import { createCounters, defaultLimits, type ToolkitError } from '../../core/index.js';
import { createOwner, toOwnerText } from '../owner.js';
import { removeLeftovers } from './leftovers.js';
import { toPartFolder } from './part-folder.js';
import { unpackPackage } from './unpack.js';
import type { UnpackBlob, UnpackOptions, UnpackSource } from './unpack-source.js';

let base: string;
let target: string;
let part: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'resume-'));
  target = join(base, 'target');
  part = toPartFolder(target, false, key);
});
afterEach(() => rmSync(base, { recursive: true }));

const key = `sha256:${'0'.repeat(64)}`;
const size = 2_500_000;
const broken = 1_500_000;

const distant = (options?: DistantOptions) => createDistantBlob(size, options);
const asFile = ({ blobs, descriptor }: DistantBlob, path: string, more: Partial<UnpackBlob> = {}): UnpackBlob => ({
  kind: 'blob',
  path,
  blobs,
  descriptor,
  ...more,
});

async function unpack(sources: readonly UnpackSource[], options: Partial<UnpackOptions> = {}) {
  const counters = createCounters();
  const result = await unpackPackage(sources, target, { policy: 'package', limits: defaultLimits, resumeKey: key, counters, ...options });
  return { ...result, counters };
}

const failureOf = (work: Promise<unknown>): Promise<ToolkitError> =>
  work.then(
    () => expect.fail('expected a failure'),
    (error: ToolkitError) => error,
  );

/** What a run leaves that broke off in the second of two blobs. */
async function breakOff(): Promise<{ whole: DistantBlob; half: DistantBlob }> {
  const [whole, half] = [distant({ seed: 'whole' }), distant({ breakAt: broken })];
  await failureOf(
    unpack([file('small'), asFile(whole, 'deep/whole.bin', { mode: 0o444, mtime: 5000 }), asFile(half, 'half.bin')], { concurrency: 1 }),
  );
  return { whole, half };
}

const inTree = (path: string) => join(part, 'tree', path);

describe('unpackPackage that goes on', () => {
  it('puts the same on disk as without, and leaves nothing beside it', async () => {
    const blob = distant();
    const sources = [file('small'), asFile(blob, 'deep/large.bin', { mode: 0o750, mtime: 5000 }), tar({ name: 'deep/a', content: 'A' })];
    expect(await unpack(sources)).toMatchObject({ files: 3, bytes: size + 6, counters: { written: size + 6, resumed: 0 } });
    expect(readdirSync(base)).toEqual(['target']);
    expect(readFileSync(join(target, 'deep/large.bin')).equals(blob.bytes)).toBe(true);
    expect(statSync(join(target, 'deep/large.bin'))).toMatchObject({ mtimeMs: 5_000_000, nlink: 1 });
    const got = listTree(target).map(({ path }) => [path, statSync(join(target, path)).mode & 0o777]);
    rmSync(target, { recursive: true });
    await unpackPackage(sources, target, { policy: 'package', limits: defaultLimits });
    expect(got).toEqual(listTree(target).map(({ path }) => [path, statSync(join(target, path)).mode & 0o777]));
  });

  it('keeps large blobs when the world breaks in, says where, and goes on', async () => {
    const [whole, half] = [distant({ seed: 'whole' }), distant({ breakAt: broken })];
    const sources = [file('small'), asFile(whole, 'deep/whole.bin', { mode: 0o444 }), asFile(half, 'half.bin')];
    const error = await failureOf(unpack(sources, { concurrency: 1 }));
    expect(error).toMatchObject({ code: 'registry/interrupted', hint: expect.stringContaining(part) });
    expect(error.hint).toMatch(/the same command goes on/);
    expect(readdirSync(base)).toEqual([part.slice(base.length + 1)]);
    expect([statSync(inTree('deep/whole.bin')).size, statSync(inTree('half.bin')).size]).toEqual([size, broken]);
    const { counters } = await unpack(sources);
    expect(whole.opened).toHaveLength(1);
    expect(half.opened).toEqual([
      { start: 0, end: size },
      { start: broken, end: size },
    ]);
    expect(counters).toMatchObject({ resumed: size + broken, hashed: 2 * size, written: size - broken + 5 });
    expect(readdirSync(base)).toEqual(['target']);
    expect(
      listTree(target)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['deep', 'deep/whole.bin', 'half.bin', 'small']);
    expect(readFileSync(join(target, 'half.bin')).equals(half.bytes)).toBe(true);
    expect(statSync(join(target, 'deep/whole.bin')).mode & 0o777).toBe(0o444);
  });

  it('does so inside a folder that exists', async () => {
    mkdirSync(target);
    const blob = distant({ breakAt: broken });
    const inside = toPartFolder(target, true, key);
    expect((await failureOf(unpack([asFile(blob, 'a')]))).hint).toContain(inside);
    expect(await unpack([asFile(blob, 'a')])).toMatchObject({ counters: { resumed: broken } });
    expect(readdirSync(target)).toEqual(['a']);
  });

  it('keeps nothing when the package is to blame', async () => {
    const good = distant({ seed: 'good' });
    const bad = distant({ spoil: (bytes) => bytes.fill(0, 0, 9) });
    const error = await failureOf(unpack([asFile(good, 'good'), asFile(bad, 'bad')], { concurrency: 1 }));
    expect(error.code).toBe('bytes/digest-mismatch');
    expect(error.hint).not.toMatch(/goes on/);
    expect(readdirSync(base)).toEqual([]);
  });

  it('keeps nothing where no large blob came', async () => {
    await failureOf(unpack([file('small'), asFile(distant({ breakAt: 0 }), 'a')], { concurrency: 1 }));
    await failureOf(unpack([asFile(createDistantBlob(1000, { breakAt: 500 }), 'a')]));
    expect(readdirSync(base)).toEqual([]);
  });

  it('leaves alone what another package left, and without a key keeps nothing', async () => {
    await breakOff();
    const blob = distant({ breakAt: broken });
    await failureOf(unpack([asFile(blob, 'half.bin')], { resumeKey: 'another' }));
    expect(readdirSync(base)).toHaveLength(2);
    expect(statSync(inTree('half.bin')).size).toBe(broken);
    rmSync(base, { recursive: true });
    mkdirSync(base);
    const { resumeKey: _, ...keyless } = { resumeKey: key, policy: 'package', limits: defaultLimits } as const;
    await failureOf(unpackPackage([asFile(distant({ breakAt: broken }), 'a')], target, keyless));
    expect(readdirSync(base)).toEqual([]);
  });

  it('takes only what is wanted now', async () => {
    const { whole, half } = await breakOff();
    const sources = [asFile(whole, 'deep/whole.bin'), asFile(half, 'half.bin')];
    await unpack(sources, { select: (path) => path === 'half.bin' });
    expect(listTree(target).map(({ path }) => path)).toEqual(['half.bin']);
  });

  it('fetches again what was damaged in the meantime', async () => {
    const { whole, half } = await breakOff();
    writeFileSync(inTree('deep/whole.bin'), Buffer.alloc(size));
    await unpack([asFile(whole, 'deep/whole.bin'), asFile(half, 'half.bin')]);
    expect(readFileSync(join(target, 'deep/whole.bin')).equals(whole.bytes)).toBe(true);
  });

  it('lets one process at a time', async () => {
    mkdirSync(part, { mode: 0o700 });
    writeFileSync(join(part, 'lock'), toOwnerText(createOwner()));
    const error = await failureOf(unpack([file('a')]));
    expect(error).toMatchObject({
      code: 'store/locked',
      message: expect.stringContaining(`Cannot unpack to "${target}": process ${process.pid} holds`),
    });
    writeFileSync(join(part, 'lock'), toOwnerText({ ...createOwner(), pid: 2 ** 22 + 1 }));
    writeFileSync(join(part, '.modelport-1-0123456789ab.tmp'), '');
    await unpack([file('a')]);
    expect(readdirSync(base)).toEqual(['target']);
  });
});

describe('what was planted in the folder', () => {
  const sentinel = 'untouched';
  let victim: string;
  beforeEach(() => {
    victim = join(base, 'victim');
    mkdirSync(victim);
    writeFileSync(join(victim, 'half.bin'), sentinel);
    writeFileSync(join(victim, 'whole.bin'), sentinel);
  });

  it.each<[string, () => void]>([
    ['a link in place of a file', () => (rmSync(inTree('half.bin')), symlinkSync(join(victim, 'half.bin'), inTree('half.bin')))],
    ['a second name of another file', () => (rmSync(inTree('half.bin')), linkSync(join(victim, 'half.bin'), inTree('half.bin')))],
    ['a folder in place of a file', () => (rmSync(inTree('half.bin')), mkdirSync(inTree('half.bin/x'), { recursive: true }))],
    ['a link in place of a folder', () => (rmSync(inTree('deep'), { recursive: true }), symlinkSync(victim, inTree('deep')))],
    ['a link in place of the tree', () => (rmSync(join(part, 'tree'), { recursive: true }), symlinkSync(victim, join(part, 'tree')))],
    ['a link in place of all of it', () => (rmSync(part, { recursive: true }), symlinkSync(victim, part))],
    ['other files', () => ['x', 'small', 'deep/y'].forEach((path) => writeFileSync(inTree(path), 'x'))],
    ['a folder that others may write to', () => chmodSync(part, 0o777)],
  ])('is not used: %s', async (_what, plant) => {
    const { whole, half } = await breakOff();
    plant();
    await unpack([asFile(whole, 'deep/whole.bin'), asFile(half, 'half.bin')]);
    expect(listTree(target).map(({ path, found }) => [path, found.isSymbolicLink()])).toEqual([
      ['deep', false],
      ['deep/whole.bin', false],
      ['half.bin', false],
    ]);
    expect(readFileSync(join(target, 'half.bin')).equals(half.bytes)).toBe(true);
    expect(lstatSync(join(target, 'half.bin')).nlink).toBe(1);
    expect(readdirSync(victim).map((name) => readFileSync(join(victim, name), 'utf8'))).toEqual([sentinel, sentinel]);
    expect(readdirSync(base).sort()).toEqual(['target', 'victim']);
  });
});

describe('removeLeftovers', () => {
  const age = (days: number) => utimesSync(part, Date.now() / 1000 - days * 86_400, Date.now() / 1000 - days * 86_400);

  it('removes what nobody went on with for a week, unless somebody works in it', async () => {
    await breakOff();
    age(6);
    expect(removeLeftovers(base)).toEqual([]);
    writeFileSync(join(part, 'lock'), toOwnerText(createOwner()));
    age(8);
    expect(removeLeftovers(base)).toEqual([]);
    writeFileSync(join(part, 'lock'), toOwnerText({ ...createOwner(), pid: 2 ** 22 + 1 }));
    age(8);
    expect(removeLeftovers(base)).toEqual([part.slice(base.length + 1)]);
    expect(existsSync(part)).toBe(false);
  });

  it('removes one whose work was done', () => {
    mkdirSync(part);
    expect(removeLeftovers(base)).toEqual([]);
    age(1);
    expect(removeLeftovers(base)).toHaveLength(1);
  });

  it('leaves no other package behind in a folder that is filled', async () => {
    mkdirSync(target);
    const other = toPartFolder(target, true, 'another');
    mkdirSync(join(other, 'tree'), { recursive: true });
    await unpack([file('a')]);
    expect(readdirSync(target)).toEqual(['a']);
    rmSync(join(target, 'a'));
    mkdirSync(other);
    writeFileSync(join(other, 'lock'), toOwnerText(createOwner()));
    expect(await failureOf(unpack([file('a')]))).toMatchObject({ code: 'bytes/exists', message: expect.stringContaining('.part') });
    expect(dirname(other)).toBe(target);
  });
});
