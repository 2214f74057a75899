import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rawTar } from '../../test/support/raw-tar.js';
import { collect, digestOf, openFileAccess, scanTar } from '../bytes/index.js';
import { createCounters, defaultLimits, type Descriptor, isToolkitError, silentProgress } from '../core/index.js';
import { copyGraph, emptyDescriptor, emptyJson, mediaTypes, serialize, toJsonBytes, verifyGraph } from '../oci/index.js';
import { toFileHeader } from './archive-header.js';
import { type ArchiveKind, type ArchiveWriter, createArchive, createMemoryStore, openArchive, openLayout, sniffArchive } from './index.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'archive-'));
  path = join(folder, 'package.tar');
});
afterEach(() => rmSync(folder, { recursive: true }));

const graph = { limits: defaultLimits, progress: silentProgress, concurrency: 4 };

async function putManifest(
  store: Pick<ArchiveWriter, 'put'>,
  layers: readonly string[],
  mediaType: string = mediaTypes.layer,
  config?: object,
): Promise<Descriptor> {
  const descriptors: Descriptor[] = [];
  for (const text of layers) descriptors.push({ mediaType, ...pick(await store.put({ kind: 'bytes', bytes: Buffer.from(text) })) });
  const configBytes = config === undefined ? emptyJson : toJsonBytes(config);
  const configBlob = {
    mediaType: config === undefined ? emptyDescriptor.mediaType : mediaTypes.imageConfig,
    ...pick(await store.put({ kind: 'bytes', bytes: configBytes })),
  };
  const { bytes, descriptor } = serialize(
    { schemaVersion: 2, mediaType: mediaTypes.manifest, config: configBlob, layers: descriptors },
    mediaTypes.manifest,
  );
  await store.put({ kind: 'bytes', bytes });
  return descriptor;
}

const pick = ({ digest, size }: { digest: Descriptor['digest']; size: number }) => ({ digest, size });

const putImage = (store: Pick<ArchiveWriter, 'put'>, layers: readonly string[]) =>
  putManifest(store, layers, mediaTypes.layer, {
    os: 'linux',
    rootfs: { type: 'layers', diff_ids: layers.map((text) => digestOf(Buffer.from(text))) },
  });

async function write(kind: ArchiveKind, fill: (archive: ArchiveWriter) => Promise<void>): Promise<Buffer> {
  const archive = await createArchive(path, kind);
  try {
    await fill(archive);
    await archive.commit();
  } finally {
    await archive.close();
  }
  return readFileSync(path);
}

async function verify(): Promise<unknown[]> {
  const archive = await openArchive(path);
  const roots = await archive.list();
  return (await Promise.all(roots.map(({ descriptor }) => verifyGraph(descriptor, archive, graph)))).flatMap(({ problems }) => problems);
}

describe('an OCI archive', () => {
  it('is read as it was written', async () => {
    let root: Descriptor | undefined;
    await write('oci-archive', async (archive) => {
      root = await putManifest(archive, ['one', 'two', 'one']);
      await archive.tag('v1', root);
      await archive.addRoot(await putManifest(archive, ['three']));
    });
    const archive = await openArchive(path);
    expect(archive.kind).toBe('oci-archive');
    expect((await archive.list()).map(({ name }) => name)).toEqual(['v1', undefined]);
    expect(await archive.resolve('v1')).toMatchObject(root as Descriptor);
    expect(await verify()).toEqual([]);
    expect(readdirSync(folder)).toEqual(['package.tar']);
  });

  it('has the same bytes for the same blobs in the same order, index last', async () => {
    const fill = async (archive: ArchiveWriter) => archive.tag('v1', await putManifest(archive, ['one', 'two']));
    const first = await write('oci-archive', fill);
    expect((await write('oci-archive', fill)).equals(first)).toBe(true);
    const names = execFileSync('tar', ['-tf', path], { encoding: 'utf8' }).trim().split('\n');
    expect([names[0], names.at(-1), names.length]).toEqual(['oci-layout', 'index.json', 6]);
  });

  it('is an OCI layout for tar, and what tar makes of a layout is an archive', async () => {
    await write('oci-archive', async (archive) => archive.tag('v1', await putManifest(archive, ['one', 'two'])));
    execFileSync('tar', ['-xf', path, '-C', folder]);
    rmSync(path);
    const layout = await openLayout(folder);
    const root = (await layout.resolve('v1')) as Descriptor;
    expect((await verifyGraph(root, layout, graph)).problems).toEqual([]);
    path = join(mkdtempSync(join(folder, 'out-')), 'again.tar');
    execFileSync('tar', ['-cf', path, '-C', folder, './blobs', './index.json', './oci-layout']);
    expect(await verify()).toEqual([]);
  });

  it('writes each byte once and holds each blob once', async () => {
    const counters = createCounters();
    const archive = await createArchive(path, 'oci-archive', { counters });
    const bytes = Buffer.alloc(100_000, 1);
    await archive.put({ kind: 'bytes', bytes });
    await archive.put({ kind: 'bytes', bytes }, { expected: { digest: digestOf(bytes), size: bytes.length } });
    expect(counters).toMatchObject({ hashed: bytes.length, skipped: bytes.length });
    await archive.commit();
    expect(counters.written - bytes.length).toBeLessThan(3000);
    expect(statSync(path).size).toBeLessThan(bytes.length + 6000);
  });

  it('is not there before it is committed, and leaves nothing when it is given up', async () => {
    writeFileSync(path, 'before');
    const archive = await createArchive(path, 'oci-archive');
    await archive.put({ kind: 'bytes', bytes: Buffer.from('x') });
    expect(readFileSync(path, 'utf8')).toBe('before');
    await archive.close();
    expect(readdirSync(folder)).toEqual(['package.tar']);
  });

  it('is copied from and to other places byte for byte', async () => {
    const memory = createMemoryStore();
    const root = await putManifest(memory, ['one', 'two']);
    await write('oci-archive', async (archive) => {
      await copyGraph(root, memory, archive, graph);
      await archive.tag('v1', root);
    });
    const layout = await openLayout(join(folder, 'layout'), { create: true });
    expect(await copyGraph(root, await openArchive(path), layout, graph)).toMatchObject({ skipped: 0 });
    expect((await verifyGraph(root, layout, graph)).problems).toEqual([]);
  });

  it('shows damaged bytes', async () => {
    const bytes = await write('oci-archive', async (archive) => archive.tag('v1', await putManifest(archive, ['weights'])));
    writeFileSync(path, bytes.toString('latin1').replace('weights', 'wEights'), 'latin1');
    expect(await verify()).toMatchObject([{ code: 'bytes/digest-mismatch' }]);
  });

  it('writes sizes beyond 8 GiB so that they are read again', async () => {
    const size = 2 ** 33 + 512;
    writeFileSync(path, toFileHeader('blobs/large', size));
    truncateSync(path, 512 + size);
    const access = await openFileAccess(path);
    const end = Buffer.alloc(1024);
    const padded = {
      size: size + 512 + 1024,
      read: async (at: number, length: number) =>
        at + length > access.size ? Buffer.concat([await access.read(at, access.size - at), end]).subarray(0, length) : access.read(at, length),
    };
    expect(await scanTar(padded, { limits: defaultLimits, where: path })).toMatchObject([{ name: 'blobs/large', size, offset: 512 }]);
    await access.close();
    expect(execFileSync('tar', ['-tvf', path], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })).toContain(String(size));
  });
});

describe('a docker archive', () => {
  it('is read back as an image with the layers it was made of', async () => {
    let root: Descriptor | undefined;
    await write('docker-archive', async (archive) => {
      root = await putImage(archive, ['layer one', 'layer two']);
      await archive.tag('demo/image:v1', root);
      await archive.tag('demo/image:v2', root);
    });
    expect(await sniffArchive(path, defaultLimits)).toBe('docker-archive');
    expect(execFileSync('tar', ['-xOf', path, 'manifest.json'], { encoding: 'utf8' })).toMatch(
      /^\[\{"Config":"blobs\/sha256\/[0-9a-f]{64}","RepoTags":\["demo\/image:v1","demo\/image:v2"\],"Layers":\["blobs/,
    );
    const archive = await openArchive(path);
    expect((await archive.list()).map(({ name }) => name)).toEqual(['demo/image:v1', 'demo/image:v2']);
    expect(await archive.resolve('demo/image:v1')).toMatchObject(root as Descriptor);
    expect(await verify()).toEqual([]);
  });

  it.each([
    ['an artifact', (archive: ArchiveWriter) => putManifest(archive, ['x'])],
    ['compressed layers', (archive: ArchiveWriter) => putManifest(archive, ['x'], mediaTypes.layerGzip, {})],
  ])('refuses %s', async (_what, put) => {
    const writing = write('docker-archive', async (archive) => archive.tag('a:b', await put(archive)));
    await expect(writing).rejects.toMatchObject({ code: 'store/not-an-image' });
    expect(existsSync(path)).toBe(false);
  });

  it('is read in the old shape, where layers are folders and links', async () => {
    const config = JSON.stringify({ rootfs: { diff_ids: [digestOf(Buffer.from('one')), digestOf(Buffer.from('one'))] } });
    const manifest = JSON.stringify([{ Config: 'abc.json', RepoTags: null, Layers: ['a/layer.tar', 'b/layer.tar'] }]);
    const entries = [
      { name: 'a/layer.tar', content: 'one' },
      { name: 'b/layer.tar', type: '2', linkName: '../a/layer.tar' },
      { name: 'abc.json', content: config },
      { name: 'manifest.json', content: manifest },
    ];
    writeFileSync(path, rawTar(...entries));
    expect(await verify()).toEqual([]);
    const [root] = await (await openArchive(path)).list();
    expect(root?.name).toBeUndefined();
    expect(root?.descriptor).toMatchObject({ mediaType: mediaTypes.manifest, digest: expect.stringMatching(/^sha256:/) });
    writeFileSync(path, rawTar(...entries.toReversed()));
    expect((await (await openArchive(path)).list())[0]).toEqual(root);
  });

  it.each([
    ['no list', '{}', {}],
    ['names that are no texts', '[{"Config":1,"Layers":[]}]', {}],
    ['a config that is missing', '[{"Config":"none.json","Layers":[]}]', {}],
    ['a config without layers', '[{"Config":"c.json","Layers":["l"]}]', {}],
    ['a layer that is missing', '[{"Config":"c.json","Layers":["none"]}]', { rootfs: { diff_ids: [`sha256:${'a'.repeat(64)}`] } }],
    ['a diff id that is a path', '[{"Config":"c.json","Layers":["l"]}]', { rootfs: { diff_ids: ['sha256:../../x'] } }],
    ['a compressed layer', '[{"Config":"c.json","Layers":["z"]}]', { rootfs: { diff_ids: [`sha256:${'a'.repeat(64)}`] } }],
  ])('is refused with %s', async (_what, manifest, config) => {
    const files = [
      { name: 'manifest.json', content: manifest },
      { name: 'c.json', content: JSON.stringify(config) },
      { name: 'l', content: 'l' },
      { name: 'z', content: gzipSync('z') },
    ];
    writeFileSync(path, rawTar(...files));
    await expect(openArchive(path)).rejects.toMatchObject({ code: 'bytes/bad-archive' });
  });
});

describe('openArchive', () => {
  const layout = { name: 'oci-layout', content: '{"imageLayoutVersion":"1.0.0"}' };
  const index = (...manifests: unknown[]) => ({ name: 'index.json', content: JSON.stringify({ schemaVersion: 2, manifests }) });

  it('takes only exact names for blobs', async () => {
    const bytes = Buffer.from('secret');
    const descriptor: Descriptor = { mediaType: 'application/octet-stream', digest: digestOf(bytes), size: bytes.length };
    const hex = descriptor.digest.slice(7);
    const names = [`../blobs/sha256/${hex}`, `/blobs/sha256/${hex}`, `blobs/sha256/../sha256/${hex}`, `blobs/sha256/${hex}/x`, `BLOBS/sha256/${hex}`];
    writeFileSync(
      path,
      rawTar(layout, index(descriptor), ...names.map((name) => ({ name, content: bytes })), {
        name: `blobs/sha256/${hex}`,
        type: '2',
        linkName: '/etc/passwd',
      }),
    );
    const archive = await openArchive(path);
    expect(await archive.has(descriptor)).toBe(false);
    await expect(archive.open(descriptor)).rejects.toMatchObject({ code: 'store/blob-missing' });
  });

  it('reads a range of a blob and no byte beyond it', async () => {
    const bytes = Buffer.from('0123456789');
    const descriptor: Descriptor = { mediaType: 'application/octet-stream', digest: digestOf(bytes), size: bytes.length };
    writeFileSync(path, rawTar(layout, index(descriptor), { name: `./blobs/sha256/${descriptor.digest.slice(7)}`, content: bytes }));
    const archive = await openArchive(path);
    const read = async (start: number, end?: number) =>
      Buffer.from(await collect(await archive.open(descriptor, end === undefined ? { start } : { start, end }), 99, 'range')).toString();
    expect([await read(2, 5), await read(8), await read(5, 99), await read(20)]).toEqual(['234', '89', '56789', '']);
  });

  it.each([
    ['what is compressed', () => gzipSync(rawTar(layout, index())), 'store/not-a-layout'],
    ['a tar of something else', () => rawTar({ name: 'model.bin', content: 'x' }), 'store/not-a-layout'],
    ['what is no tar', () => Buffer.alloc(4096, 'text'), 'store/not-a-layout'],
    ['an empty file', () => Buffer.alloc(0), 'store/not-a-layout'],
    ['a tar that is cut off', () => rawTar(layout, index()).subarray(0, 1100), 'bytes/bad-archive'],
    ['two indexes', () => rawTar(layout, index(), index()), 'bytes/bad-archive'],
  ])('refuses %s', async (_what, make, code) => {
    writeFileSync(path, make());
    await expect(openArchive(path)).rejects.toMatchObject({ code });
  });

  it('refuses an archive of the other kind when one was asked for', async () => {
    writeFileSync(path, rawTar(layout, index()));
    await expect(openArchive(path, { kind: 'docker-archive' })).rejects.toMatchObject({ code: 'store/not-a-layout' });
    expect((await openArchive(path, { kind: 'oci-archive' })).kind).toBe('oci-archive');
  });

  it('ends in a value or a ToolkitError whatever was damaged', async () => {
    const config = JSON.stringify({ rootfs: { diff_ids: [digestOf(Buffer.from('one'))] } });
    const manifest = JSON.stringify([{ Config: 'c.json', RepoTags: ['a:b'], Layers: ['l'] }]);
    const whole = Buffer.from(
      rawTar({ name: 'l', content: 'one' }, { name: 'c.json', content: config }, { name: 'manifest.json', content: manifest }, layout),
    );
    const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(damage, async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        writeFileSync(path, bytes);
        try {
          await verify();
        } catch (error) {
          expect(isToolkitError(error)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});
