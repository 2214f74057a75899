import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BlobContent, createCounters, type FileContent, type TarContent } from '../core/index.js';
import { type BlobJob, type BuiltBlob, type JobWatch, runBlobJob } from './blob-job.js';
import { buildBlob } from './build-blob.js';
import { digestOf, fromBytes } from './streams.js';
import { tarSize } from './tar-write.js';
import { hasWorkers, runInWorker } from './worker-pool.js';

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'modelport-build-'));

beforeAll(() => {
  const worker = join(here, '../../dist/ingest-worker.js');
  const outfile = `${worker}.${process.pid}`;
  buildSync({
    entryPoints: [join(here, 'ingest-worker.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  renameSync(outfile, worker);
});
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

function watch(): JobWatch & { bytes: number; cancelled: boolean } {
  const state = {
    counters: createCounters(),
    bytes: 0,
    cancelled: false,
    onBytes: (bytes: number) => void (state.bytes += bytes),
    isCancelled: () => state.cancelled,
  };
  return state;
}

/** Everything holds in this thread and in a worker. */
const threads: [string, (job: BlobJob, watch: JobWatch) => Promise<BuiltBlob>][] = [
  ['this thread', runBlobJob],
  ['a worker', runInWorker],
];

describe.each(threads)('in %s', (_, run) => {
  const build = (content: BlobContent, output?: BlobJob['output'], watching = watch()) => run({ content, output, sync: false }, watching);

  it('a file is read, hashed and written once', async () => {
    const path = fresh();
    const watching = watch();
    const built = await build(file(large), { path }, watching);
    expect(built).toEqual({ digest: digestOf(large), size: large.length });
    expect(readFileSync(path).equals(large)).toBe(true);
    expect(watching.counters).toEqual({ read: large.length, hashed: large.length, written: large.length, skipped: 0 });
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

  it('stops when it is cancelled, and removes what it made', async () => {
    const path = fresh();
    const watching = watch();
    watching.cancelled = true;
    const long = tar('none', ...Array.from({ length: 200 }, () => source));
    await expect(build(long, { path }, watching)).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(existsSync(path)).toBe(false);
    expect(watching.counters.written).toBeLessThan(tarSize(long.members));
  });

  it('several at a time do not disturb each other', async () => {
    const contents = Array.from({ length: 8 }, (__, index) => Buffer.alloc(1_500_000, index + 1));
    const built = await Promise.all(contents.map((bytes) => build(file(bytes), { path: fresh() })));
    expect(built.map(({ digest }) => digest)).toEqual(contents.map(digestOf));
  });
});

describe('buildBlob', () => {
  it('takes bytes and streams', async () => {
    const path = fresh();
    expect(await buildBlob({ kind: 'bytes', bytes: large }, { path })).toEqual({ digest: digestOf(large), size: large.length });
    expect(readFileSync(path).equals(large)).toBe(true);
    expect((await buildBlob({ kind: 'stream', open: async () => fromBytes(large) }, undefined)).digest).toBe(digestOf(large));
    expect((await buildBlob({ kind: 'bytes', bytes: new Uint8Array(0) }, undefined)).size).toBe(0);
  });

  it('sends large files to a worker, with the same result and the same progress', async () => {
    expect(hasWorkers()).toBe(true);
    const content = tar('none', ...Array.from({ length: 8 }, () => source));
    const counters = createCounters();
    let bytes = 0;
    const path = fresh();
    const built = await buildBlob(content, { path }, { counters, onBytes: (delta) => (bytes += delta) });
    expect(built).toEqual(await runBlobJob({ content, output: undefined, sync: false }, watch()));
    expect(bytes).toBe(tarSize(content.members));
    expect(counters.written).toBe(built.size);
    expect(digestOf(readFileSync(path))).toBe(built.digest);
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
