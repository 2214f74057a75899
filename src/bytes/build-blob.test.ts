import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type BlobContent, createCounters, type FileContent, type TarContent } from '../core/index.js';
import { buildBlob, type BuildBlobOptions } from './build-blob.js';
import { findByteThread } from './threads/byte-thread.js';
import { digestOf, fromBytes } from './streams.js';
import { tarSize } from './tar/tar-write.js';

const folder = mkdtempSync(join(tmpdir(), 'modelport-build-'));
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;
const fresh = () => join(folder, `out-${made++}`);

function file(bytes: Uint8Array): FileContent {
  const path = fresh();
  writeFileSync(path, bytes);
  return { kind: 'file', path, size: bytes.byteLength };
}

const large = Buffer.alloc(5_000_000, 'some bytes of a model ');
const source = file(large);
const tar = (compression: TarContent['compression'], ...contents: FileContent[]): TarContent => ({
  kind: 'tar',
  compression,
  members: contents.map((content, index) => ({ name: `file-${index}`, mode: 0o644, mtime: 0, content })),
});

function watch() {
  const state = { counters: createCounters(), bytes: 0, onBytes: (bytes: number) => void (state.bytes += bytes) };
  return state;
}

const build = (content: BlobContent, output?: { path: string; position?: number }, options: BuildBlobOptions = {}) =>
  buildBlob(content, output, { sync: false, ...options });

describe('buildBlob', () => {
  it('a file is read, hashed and written once', async () => {
    const path = fresh();
    const watching = watch();
    const built = await build(file(large), { path }, watching);
    expect(built).toEqual({ digest: digestOf(large), size: large.length });
    expect(readFileSync(path).equals(large)).toBe(true);
    expect(watching.counters).toMatchObject({ read: large.length, hashed: large.length, written: large.length, skipped: 0 });
    expect(watching.bytes).toBe(large.length);
  });

  it('without output it is only hashed', async () => {
    const watching = watch();
    expect((await build(file(large), undefined, watching)).digest).toBe(digestOf(large));
    expect(watching.counters.written).toBe(0);
  });

  it.each(['none', 'gzip', 'zstd'] as const)('a tar (%s) has both digests', async (compression) => {
    const content = tar(compression, file(large), file(Buffer.from('small')), file(Buffer.alloc(0)));
    const plain = await build({ ...content, compression: 'none' });
    const path = fresh();
    const watching = watch();
    const built = await build(content, { path }, watching);
    const bytes = readFileSync(path);
    expect(built).toEqual({ digest: digestOf(bytes), size: bytes.length, diffId: plain.digest });
    expect(watching.bytes).toBe(tarSize(content.members));
    expect(watching.counters.hashed).toBe(compression === 'none' ? plain.size : plain.size + bytes.length);
  });

  it('writes into an existing file at a position', async () => {
    const path = fresh();
    writeFileSync(path, 'headerXXXXXtrailer');
    const built = await build(file(Buffer.from('bytes')), { path, position: 6 });
    expect(built.size).toBe(5);
    expect(readFileSync(path, 'utf8')).toBe('headerbytestrailer');
  });

  it('fails with the same error, and leaves nothing behind', async () => {
    const changed = file(large);
    truncateSync(changed.path, 100);
    const path = fresh();
    await expect(build(changed, { path })).rejects.toMatchObject({
      name: 'ToolkitError',
      code: 'bytes/file-changed',
      where: changed.path,
      hint: expect.stringContaining('Wait'),
    });
    expect(existsSync(path)).toBe(false);
    await expect(build({ ...changed, path: join(folder, 'absent') }, { path })).rejects.toMatchObject({ code: 'bytes/not-found' });
    await expect(build(file(large), { path: join(folder, 'absent', 'out') })).rejects.toMatchObject({ code: 'bytes/not-found' });
  });

  it('never touches a file that exists', async () => {
    const path = fresh();
    writeFileSync(path, 'mine');
    await expect(build(file(large), { path })).rejects.toMatchObject({ code: 'bytes/exists' });
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });

  it('says when the disk is full', async () => {
    await expect(build(file(large), { path: '/dev/full', position: 0 })).rejects.toMatchObject({ code: 'bytes/disk-full' });
  });

  it('several at a time do not disturb each other', async () => {
    const contents = Array.from({ length: 8 }, (__, index) => Buffer.alloc(1_500_000, index + 1));
    const built = await Promise.all(contents.map((bytes) => build(file(bytes), { path: fresh() })));
    expect(built.map(({ digest }) => digest)).toEqual(contents.map(digestOf));
  });
  it('takes bytes and streams', async () => {
    const path = fresh();
    expect(await buildBlob({ kind: 'bytes', bytes: large }, { path })).toEqual({ digest: digestOf(large), size: large.length });
    expect(readFileSync(path).equals(large)).toBe(true);
    expect((await buildBlob({ kind: 'stream', open: async () => fromBytes(large) }, undefined)).digest).toBe(digestOf(large));
    expect((await buildBlob({ kind: 'bytes', bytes: new Uint8Array(0) }, undefined)).size).toBe(0);
  });

  it('hashes and compresses in threads with the same result', async () => {
    expect(findByteThread()).toBeDefined();
    const long = Buffer.concat(Array.from({ length: 8 }, () => large));
    const path = fresh();
    const watching = watch();
    const built = await build(file(long), { path }, watching);
    expect(built).toEqual({ digest: digestOf(long), size: long.length });
    expect(digestOf(readFileSync(path))).toBe(built.digest);
    expect(watching).toMatchObject({ bytes: long.length, counters: { read: long.length, hashed: long.length, written: long.length } });
    const packed = await build(tar('zstd', file(long)), { path: fresh() });
    expect(packed.diffId).toBe((await build(tar('none', file(long)))).digest);
  });

  it('can be aborted by a signal', async () => {
    const path = fresh();
    const abort = new AbortController();
    const content = tar('none', ...Array.from({ length: 400 }, () => source));
    const building = buildBlob(content, { path }, { signal: abort.signal, onBytes: () => abort.abort() });
    await expect(building).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(existsSync(path)).toBe(false);
  });
});
