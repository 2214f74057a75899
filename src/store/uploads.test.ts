import {
  chmodSync,
  existsSync,
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
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { digestBytes, inPieces } from '../../test/suites/registry-store-suite.js';
import { makeBytes } from '../../test/support/distant-blob.js';
import { withFrozenFs } from '../../test/support/frozen-fs.js';
import { createOwner, PartialFile, toOwnerText } from '../bytes/index.js';
import { type ByteCounters, createCounters, createError, type Upload } from '../core/index.js';
import { toBlobPath } from './blob-path.js';
import { type LayoutRegistryStore, openRegistryStore, prune } from './index.js';

const bytes = makeBytes(2_000_000);
const digest = digestBytes(bytes);
const half = 1_048_576;
const repository = 'demo/digits';

let folder: string;
let path: string;
let counters: ByteCounters;
let store: LayoutRegistryStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'uploads-'));
  path = join(folder, 'layout');
  counters = createCounters();
  store = await reopen();
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** As another process, or one after this, would. */
const reopen = () => openRegistryStore(path, { create: true, counters });
const toFolder = (id: string) => join(path, 'ingest', 'uploads', id);

async function find(place: LayoutRegistryStore, { id }: Upload): Promise<Upload> {
  const upload = await place.findUpload(id);
  if (upload === undefined) throw new Error(`There is no ${id}`);
  return upload;
}

async function beginHalf(): Promise<Upload> {
  const upload = await store.beginUpload(repository, 'sha256');
  await upload.append(inPieces(bytes.subarray(0, half), 65_536), half);
  return upload;
}

describe('an upload', () => {
  it('costs one hash and one write, and leaves a blob, a claim and nothing else', async () => {
    const upload = await beginHalf();
    await upload.append(inPieces(bytes.subarray(half), 65_536), bytes.length - half);
    await upload.finish(digest);
    expect(counters).toEqual({ ...createCounters(), hashed: bytes.length, written: bytes.length });
    const file = toBlobPath(path, digest);
    expect(readFileSync(file).equals(bytes)).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o444);
    expect(readdirSync(path).toSorted()).toEqual(['blobs', 'index.json', 'oci-layout', 'registry']);
  });

  it('goes on after a restart, and what came before it is read once', async () => {
    const begun = await beginHalf();
    const later = await find(await reopen(), begun);
    expect(later).toMatchObject({ id: begun.id, repository, size: half });
    await later.append(inPieces(bytes.subarray(half), 65_536), bytes.length - half);
    expect(await later.finish(digest)).toEqual({ digest, size: bytes.length, fresh: true });
    expect(counters).toMatchObject({ written: bytes.length, read: bytes.length, resumed: bytes.length });
  });

  it('becomes a blob as young as its end, so that no collector takes it', async () => {
    const begun = await beginHalf();
    utimesSync(join(toFolder(begun.id), 'data'), 1, 1);
    const name = digestBytes(bytes.subarray(0, half));
    await begun.finish(name);
    expect(Date.now() - statSync(toBlobPath(path, name)).mtimeMs).toBeLessThan(60_000);
  });

  it('that is finished after a restart is judged by all its bytes', async () => {
    const begun = await beginHalf();
    const later = await find(await reopen(), begun);
    await later.append(inPieces(bytes.subarray(0, 10), 10), 10);
    await expect(later.finish(digest)).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect(existsSync(toFolder(begun.id))).toBe(false);
    expect(existsSync(toBlobPath(path, digest))).toBe(false);
  });

  it('is for one caller at a time among several processes', async () => {
    const begun = await beginHalf();
    const lock = join(toFolder(begun.id), 'lock');
    writeFileSync(lock, toOwnerText(createOwner()));
    await expect(begun.append(inPieces(bytes.subarray(half), 65_536))).rejects.toMatchObject({
      code: 'store/locked',
      message: expect.stringContaining(`Cannot add to the upload "${begun.id}": process ${process.pid}`),
    });
    writeFileSync(lock, toOwnerText({ ...createOwner(), pid: 2 ** 22 + 1 }));
    await begun.append(inPieces(bytes.subarray(half), 65_536));
    expect(await begun.finish(digest)).toMatchObject({ digest });
  });

  it('to which another added says so before it takes bytes for the wrong place', async () => {
    const begun = await beginHalf();
    await (await find(await reopen(), begun)).append(inPieces(bytes.subarray(half, half + 1000), 1000), 1000);
    await expect(begun.append(inPieces(bytes.subarray(half), 65_536))).rejects.toMatchObject({ code: 'bytes/file-changed' });
    expect(begun.size).toBe(half + 1000);
    await begun.append(inPieces(bytes.subarray(half + 1000), 65_536));
    expect(await begun.finish(digest)).toMatchObject({ size: bytes.length });
  });

  it('that another finished is over', async () => {
    const begun = await beginHalf();
    await (await find(await reopen(), begun)).finish(digestBytes(bytes.subarray(0, half)));
    await expect(begun.append(inPieces(bytes, 65_536))).rejects.toMatchObject({ code: 'bytes/not-found' });
    expect(await store.findUpload(begun.id)).toBeUndefined();
  });

  it('goes on after the disk was full', async () => {
    const upload = await store.beginUpload(repository, 'sha256');
    const writing = vi.spyOn(PartialFile.prototype, 'write');
    writing.mockImplementationOnce(async function (this: PartialFile, chunk) {
      await this.write(chunk.subarray(0, 5000));
      throw createError('bytes/disk-full', { message: 'Cannot write: the disk is full' });
    });
    await expect(upload.append(inPieces(bytes, 65_536), bytes.length)).rejects.toMatchObject({ code: 'bytes/disk-full' });
    expect(upload.size).toBe(5000);
    await upload.append(inPieces(bytes.subarray(5000), 65_536), bytes.length - 5000);
    expect(await upload.finish(digest)).toMatchObject({ digest });
    expect(readFileSync(toBlobPath(path, digest)).equals(bytes)).toBe(true);
  });

  it.each<['settle' | 'sync', (upload: Upload) => Promise<unknown>]>([
    ['settle', (upload) => upload.append(inPieces(bytes.subarray(half), 65_536))],
    ['sync', (upload) => upload.finish(digestBytes(bytes.subarray(0, half)))],
  ])('is over when the disk failed behind its back (%s)', async (step, work) => {
    const upload = await beginHalf();
    vi.spyOn(PartialFile.prototype, step).mockRejectedValueOnce(createError('bytes/io', { message: 'Cannot write: input/output error' }));
    await expect(work(upload)).rejects.toMatchObject({ code: 'bytes/io' });
    expect(await store.findUpload(upload.id)).toBeUndefined();
    expect(existsSync(toBlobPath(path, digestBytes(bytes.subarray(0, half))))).toBe(false);
  });
});

describe('what was planted', () => {
  const id = '0123456789abcdef0123456789abcdef';
  const outside = () => join(folder, 'outside');
  const plant = (note: unknown) => {
    mkdirSync(toFolder(id), { recursive: true });
    writeFileSync(join(toFolder(id), 'upload.json'), typeof note === 'string' ? note : JSON.stringify(note));
  };

  it.each([
    '{',
    '[]',
    '{}',
    { repository: '../..', algorithm: 'sha256' },
    { repository: 'a', algorithm: 'md5' },
    { repository: 7, algorithm: 'sha256' },
    `{"repository":"a","algorithm":"sha256"}${' '.repeat(5000)}`,
  ])('is no upload with the note %j', async (note) => {
    plant(note);
    expect(await store.findUpload(id)).toBeUndefined();
  });

  it('is no upload as a link to one', async () => {
    const real = await beginHalf();
    symlinkSync(toFolder(real.id), toFolder(id));
    expect(await store.findUpload(id)).toBeUndefined();
    expect(await store.purgeUploads(0)).toBe(2);
    expect(existsSync(join(path, 'ingest'))).toBe(false);
    mkdirSync(toFolder(id), { recursive: true });
    writeFileSync(outside(), '{"repository":"a","algorithm":"sha256"}');
    symlinkSync(outside(), join(toFolder(id), 'upload.json'));
    expect(await store.findUpload(id)).toBeUndefined();
  });

  it('is not written to, or read, through a link', async () => {
    plant({ repository, algorithm: 'sha256' });
    writeFileSync(outside(), 'mine');
    symlinkSync(outside(), join(toFolder(id), 'data'));
    const upload = await store.findUpload(id);
    expect(upload).toMatchObject({ size: 0 });
    await upload!.append(inPieces(bytes, 65_536));
    await upload!.finish(digest);
    expect(readFileSync(outside(), 'utf8')).toBe('mine');
    expect(lstatSync(toBlobPath(path, digest)).isFile()).toBe(true);
  });

  it('purging leaves what is no upload, and what lies behind links', async () => {
    mkdirSync(join(path, 'ingest', 'uploads'), { recursive: true });
    writeFileSync(join(path, 'ingest', 'uploads', 'notes.txt'), 'mine');
    mkdirSync(outside());
    writeFileSync(join(outside(), 'data'), 'mine');
    symlinkSync(outside(), toFolder(id));
    utimesSync(join(outside(), 'data'), 1, 1);
    expect(await store.purgeUploads(60_000)).toBe(1);
    expect(readdirSync(join(path, 'ingest', 'uploads'))).toEqual(['notes.txt']);
    expect(readFileSync(join(outside(), 'data'), 'utf8')).toBe('mine');
  });
});

describe('a process that dies at any step of an upload', () => {
  /** What the process that "died" holds bears the number of this one, which lives. */
  const bury = () => {
    for (const name of existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : []) {
      if (!/(^|\/)(owner|[\w.]*lock)$/.test(name)) continue;
      const text = readFileSync(join(path, name), 'utf8');
      writeFileSync(join(path, name), text.replace(`"pid":${process.pid}`, '"pid":4194305'));
    }
  };

  it('leaves a whole blob with its claim, or what another can go on with', async () => {
    const outcomes = new Set<string>();
    for (let step = 0, finished = false; !finished; step++) {
      rmSync(path, { recursive: true, force: true });
      let id = '';
      const dying = await reopen();
      finished = await withFrozenFs(step, async () => {
        const upload = await dying.beginUpload(repository, 'sha256');
        ({ id } = upload);
        await upload.append(inPieces(bytes.subarray(0, half), 65_536), half);
        await upload.append(inPieces(bytes.subarray(half), 65_536), bytes.length - half);
        await upload.finish(digest);
      });
      bury();
      const next = await reopen();
      const upload = await next.findUpload(id);
      const there = await next.findBlob(digest);
      if (finished) expect([there?.size, upload, next.hasClaim(repository, digest)]).toEqual([bytes.length, undefined, true]);
      if (there !== undefined) expect(next.hasClaim(repository, digest)).toBe(true);
      outcomes.add(`${there === undefined ? 'no blob' : 'blob'}, ${upload === undefined ? 'no upload' : `${upload.size} bytes`}`);
      const own = upload ?? (await next.beginUpload(repository, 'sha256'));
      await own.append(inPieces(bytes.subarray(own.size), 65_536));
      await own.finish(digest);
      expect(readFileSync(toBlobPath(path, digest)).equals(bytes)).toBe(true);
      expect(await prune(next, { uploadAgeMs: 0 })).toMatchObject({ kept: 1 });
    }
    expect([...outcomes].toSorted()).toEqual(
      [
        'blob, 0 bytes',
        'blob, no upload',
        'no blob, 0 bytes',
        `no blob, ${bytes.length} bytes`,
        `no blob, ${half} bytes`,
        'no blob, no upload',
      ].toSorted(),
    );
  });

  it('and whose file cannot be written to any more is begun anew', async () => {
    const begun = await beginHalf();
    const data = join(toFolder(begun.id), 'data');
    rmSync(data);
    mkdirSync(data);
    chmodSync(data, 0o500);
    const later = await find(await reopen(), begun);
    expect(later.size).toBe(0);
    await later.append(inPieces(bytes, 65_536));
    expect(await later.finish(digest)).toMatchObject({ digest });
  });
});
