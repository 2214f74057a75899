/** A disk that fills up, for real: a small tmpfs, mounted by root. The verb says so, leaves nothing half, and works once there is room. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Modelport } from './support/modelport.js';

const mebibyte = 1024 * 1024;

let base: string;
/** Mounted anew for each test. */
let disk: string;
/** A store with room, which holds the model; and one on the disk, which holds a small package. */
let roomy: Modelport;
let cramped: Modelport;

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'disk-full-'));
  disk = join(base, 'disk');
  mkdirSync(disk);
  for (const folder of ['model', 'pages', 'small']) mkdirSync(join(base, folder));
  for (let index = 0; index < 3; index++) writeFileSync(join(base, `model/part-${index}.bin`), randomBytes(4 * mebibyte));
  for (let index = 0; index < 3000; index++) writeFileSync(join(base, `pages/${index}.md`), randomBytes(3000));
  writeFileSync(join(base, 'small/README.md'), '# small\n');
  roomy = new Modelport(join(base, 'roomy'));
  roomy.must(['pack', join(base, 'model'), '-t', 'model:v1']);
  roomy.must(['pack', join(base, 'pages'), '-t', 'pages:v1']);
  roomy.must(['pack', join(base, 'model'), '-t', 'gzipped:v1', '--layers', 'tar+gzip']);
});
afterAll(() => rmSync(base, { recursive: true }));

beforeEach(() => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', disk]);
  cramped = new Modelport(join(disk, 'home'));
  cramped.must(['pack', join(base, 'small'), '-t', 'small:v1']);
  mkdirSync(join(disk, 'out'));
});
afterEach(() => {
  execFileSync('umount', [disk]);
});

const makeRoom = () => execFileSync('mount', ['-o', 'remount,size=96m', disk]);

/** Ends with 3 and names a place on the disk; what was there is whole, and nothing else is. */
function expectFull(port: Modelport, args: readonly string[]): void {
  const { code, stdout, stderr } = port.run([...args, '--json']);
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
  expect([code, error.code, stderr]).toEqual([3, 'bytes/disk-full', '']);
  expect(error.message).toContain(disk);
  expect(error.hint).toMatch(/[Ff]ree/);
  expect(port.run(args).stderr).toMatch(/^modelport: Cannot .*the disk is full/);
  expect(readdirSync(join(disk, 'out'))).toEqual([]);
  expect(readdirSync(join(disk, 'home')).filter((name) => name !== 'cache')).toEqual(['blobs', 'index.json', 'oci-layout']);
  expect(cramped.json(['verify', 'small:v1'])).toMatchObject({ ok: true });
  expect((cramped.json(['list']) as { packages: { name: string }[] }).packages.map(({ name }) => name)).toEqual(['small:v1']);
}

const verifies = (port: Modelport, place: string) => expect(port.json(['verify', place])).toMatchObject({ ok: true, problems: [] });

describe('on a full disk', () => {
  it.each(['raw', 'tar', 'tar+gzip', 'tar+zstd'])('pack as %s into the store', (layers) => {
    const args = ['pack', join(base, 'model'), '-t', 'model:v1', '--layers', layers];
    expectFull(cramped, args);
    cramped.must(['prune']);
    makeRoom();
    cramped.must(args);
    verifies(cramped, 'model:v1');
  });

  it('pack many small files into the store', () => {
    const args = ['pack', join(base, 'pages'), '-t', 'pages:v1'];
    expectFull(cramped, args);
    makeRoom();
    cramped.must(args);
    verifies(cramped, 'pages:v1');
  });

  it('pack to an archive', () => {
    const place = join(disk, 'out/model.tar');
    expectFull(roomy, ['pack', join(base, 'model'), '-o', place]);
    makeRoom();
    roomy.must(['pack', join(base, 'model'), '-o', place]);
    verifies(roomy, place);
  });

  it('copy to an archive', () => {
    const place = join(disk, 'out/model.tar');
    expectFull(roomy, ['copy', 'model:v1', place]);
    makeRoom();
    roomy.must(['copy', 'model:v1', place]);
    verifies(roomy, place);
  });

  it('copy from an archive to the store', () => {
    roomy.must(['copy', 'model:v1', join(base, 'model.tar')]);
    const args = ['copy', join(base, 'model.tar'), 'model:v1'];
    expectFull(cramped, args);
    makeRoom();
    cramped.must(args);
    verifies(cramped, 'model:v1');
  });

  it.each(['model:v1', 'pages:v1', 'gzipped:v1'])('unpack %s', (name) => {
    const args = ['unpack', name, '-o', join(disk, 'out/target')];
    expectFull(roomy, args);
    makeRoom();
    roomy.must(args);
    const source = join(base, name === 'pages:v1' ? 'pages' : 'model');
    execFileSync('diff', ['-r', source, join(disk, 'out/target')]);
  });

  it('unpack over a folder, whose files stay as they are', () => {
    const target = join(disk, 'target');
    mkdirSync(target);
    writeFileSync(join(target, 'part-0.bin'), 'old');
    const args = ['unpack', 'model:v1', '-o', target, '--overwrite'];
    expectFull(roomy, args);
    expect(execFileSync('cat', [join(target, 'part-0.bin')]).toString()).toBe('old');
    expect(readdirSync(target)).toEqual(['part-0.bin']);
    makeRoom();
    roomy.must(args);
    execFileSync('diff', ['-r', join(base, 'model'), target]);
  });

  it('edit', () => {
    writeFileSync(join(base, 'more.bin'), randomBytes(12 * mebibyte));
    const args = ['edit', 'small:v1', '-t', 'small:v2', '--add', join(base, 'more.bin')];
    expectFull(cramped, args);
    makeRoom();
    cramped.must(args);
    verifies(cramped, 'small:v2');
  });

  it('without a single byte left the store still reads; a few KiB are enough for prune to make room', () => {
    writeFileSync(join(base, 'small/extra.bin'), randomBytes(mebibyte));
    cramped.must(['pack', join(base, 'small'), '-t', 'gone:v1']);
    rmSync(join(base, 'small/extra.bin'));
    cramped.must(['rm', 'gone:v1']);
    expect(() => execFileSync('dd', ['if=/dev/zero', `of=${join(disk, 'filler')}`, 'bs=4k'], { stdio: 'ignore' })).toThrow(/dd/);
    verifies(cramped, 'small:v1');
    const { code, stdout } = cramped.run(['tag', 'small:v1', 'small:v2', '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([3, { error: { code: 'bytes/disk-full' } }]);
    expect(existsSync(join(disk, 'home/index.lock'))).toBe(false);
    truncateSync(join(disk, 'filler'), statSync(join(disk, 'filler')).size - 32 * 1024);
    expect(cramped.json(['prune'])).toMatchObject({ freedBytes: expect.toSatisfy((freed: number) => freed > mebibyte) });
    cramped.must(['tag', 'small:v1', 'small:v2']);
  });
});
