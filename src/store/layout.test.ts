import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { collect, digestOf } from '../bytes/index.js';
import { createCounters, type Descriptor } from '../core/index.js';
import { mediaTypes } from '../oci/index.js';
import { type LayoutStore, openLayout, openLocalStore } from './index.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'layout-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const bytes = Buffer.from('weights');
const descriptor: Descriptor = { mediaType: 'application/octet-stream', digest: digestOf(bytes), size: bytes.length };
const hex = descriptor.digest.slice(7);

async function read(store: LayoutStore, blob: Descriptor): Promise<string> {
  return Buffer.from(await collect(await store.open(blob), 1e6, 'blob')).toString();
}

/** A layout as another tool would leave it. */
function writeForeign(manifests: readonly object[], extra: object = {}): string {
  const dir = join(folder, 'foreign');
  mkdirSync(join(dir, 'blobs/sha256'), { recursive: true });
  writeFileSync(join(dir, 'blobs/sha256', hex), bytes);
  writeFileSync(join(dir, 'oci-layout'), '{"imageLayoutVersion":"1.0.0","more":true}\n');
  writeFileSync(join(dir, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests, ...extra }, null, 2));
  writeFileSync(join(dir, 'manifest.json'), 'a file that is none of ours');
  return dir;
}

const named = (name: string, more: object = {}) => ({ ...descriptor, ...more, annotations: { 'org.opencontainers.image.ref.name': name } });

describe('openLayout', () => {
  it('creates nothing before the first write, and then a whole layout', async () => {
    const dir = join(folder, 'deep/new');
    const store = await openLayout(dir, { create: true });
    expect(await store.list()).toEqual([]);
    expect(existsSync(dir)).toBe(false);
    await store.put({ kind: 'bytes', bytes });
    expect(readdirSync(dir).toSorted()).toEqual(['blobs', 'index.json', 'oci-layout']);
    expect(readFileSync(join(dir, 'oci-layout'), 'utf8')).toBe('{"imageLayoutVersion":"1.0.0"}');
    expect(JSON.parse(readFileSync(join(dir, 'index.json'), 'utf8'))).toEqual({ schemaVersion: 2, mediaType: mediaTypes.index, manifests: [] });
    expect(statSync(join(dir, 'blobs/sha256', hex)).mode & 0o777).toBe(0o444);
  });

  it.each([
    ['a folder with other things', (dir: string) => writeFileSync(join(dir, 'holiday.jpg'), '')],
    ['a marker that is no JSON', (dir: string) => ['oci-layout', 'index.json', 'x'].forEach((name) => writeFileSync(join(dir, name), 'x'))],
  ])('refuses %s', async (_what, fill) => {
    fill(folder);
    for (const create of [true, false]) await expect(openLayout(folder, { create })).rejects.toMatchObject({ code: 'store/not-a-layout' });
  });

  it('takes up a layout that a writer did not finish creating', async () => {
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
    const store = await openLayout(folder, { create: true });
    await store.tag('a', { ...descriptor, ...(await store.put({ kind: 'bytes', bytes })) });
    expect((await openLayout(folder)).path).toBe(folder);
  });

  it('reads a foreign layout as it is, and changes only what it is told to', async () => {
    const dir = writeForeign([named('v1'), named('v2', { urls: ['https://example.com'] })], { annotations: { kept: 'yes' } });
    const store = await openLayout(dir);
    expect((await store.list()).map(({ name }) => name)).toEqual(['v1', 'v2']);
    expect(await read(store, descriptor)).toBe('weights');
    expect(readdirSync(dir).toSorted()).toEqual(['blobs', 'index.json', 'manifest.json', 'oci-layout']);
    await store.tag('v3', descriptor);
    expect(await store.remove('v1')).toBe(true);
    expect(await store.remove('v1')).toBe(false);
    expect(JSON.parse(readFileSync(join(dir, 'index.json'), 'utf8'))).toEqual({
      schemaVersion: 2,
      manifests: [named('v2', { urls: ['https://example.com'] }), named('v3')],
      annotations: { kept: 'yes' },
    });
  });

  it('takes the last of several entries with one name, and says so', async () => {
    const store = await openLayout(writeForeign([named('v1', { size: 1 }), named('v1'), { ...descriptor }]));
    expect(await store.resolve('v1')).toMatchObject({ size: bytes.length });
    expect((await store.list()).map(({ name }) => name)).toEqual(['v1', undefined]);
    expect(await store.listFindings()).toMatchObject([{ level: 'warning', code: 'store/repeated-name' }]);
  });

  it('keeps a root without a name, once', async () => {
    const store = await openLayout(join(folder, 'new'), { create: true });
    await store.put({ kind: 'bytes', bytes });
    await store.addRoot({ ...descriptor, annotations: { 'org.opencontainers.image.ref.name': 'elsewhere' } });
    await store.addRoot(descriptor);
    expect(await store.list()).toEqual([{ descriptor }]);
  });

  it('sees what another process wrote', async () => {
    const dir = join(folder, 'shared');
    const [one, other] = [await openLayout(dir, { create: true }), await openLayout(dir, { create: true })];
    await one.put({ kind: 'bytes', bytes });
    expect(await other.resolve('a')).toBeUndefined();
    await one.tag('a', descriptor);
    expect(await other.resolve('a')).toMatchObject(descriptor);
  });
});

describe('blobs of a layout', () => {
  it('are judged again whenever they are read', async () => {
    const store = await openLayout(writeForeign([]));
    const path = join(store.path, 'blobs/sha256', hex);
    writeFileSync(path, 'wEights');
    await expect(read(store, descriptor)).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    writeFileSync(path, 'weights and more');
    await expect(store.open(descriptor)).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
    expect(await store.has(descriptor)).toBe(false);
  });

  it('are replaced when they are too short', async () => {
    const store = await openLayout(writeForeign([]));
    writeFileSync(join(store.path, 'blobs/sha256', hex), 'wei');
    expect(await store.put({ kind: 'bytes', bytes }, { expected: descriptor })).toMatchObject({ fresh: true });
    expect(await read(store, descriptor)).toBe('weights');
  });

  it('are never reached through a link', async () => {
    const store = await openLayout(writeForeign([]));
    const secret = join(folder, 'secret');
    writeFileSync(secret, bytes);
    rmSync(join(store.path, 'blobs/sha256', hex));
    symlinkSync(secret, join(store.path, 'blobs/sha256', hex));
    await expect(store.open(descriptor, { start: 0, end: 3 })).rejects.toMatchObject({
      code: 'bytes/io',
      message: expect.stringContaining('not a plain file'),
    });
  });

  it('are not looked for under a digest that is a path', async () => {
    const store = await openLayout(writeForeign([]));
    const digest = 'sha256:../../index.json' as Descriptor['digest'];
    await expect(store.open({ ...descriptor, digest })).rejects.toMatchObject({ code: 'core/bad-digest' });
  });
});

describe('the local store', () => {
  it('lives beside other files of its folder', async () => {
    writeFileSync(join(folder, 'settings.json'), '{}');
    const store = await openLocalStore({ home: folder });
    await store.put({ kind: 'bytes', bytes });
    await store.tag('registry.example.com/demo/digits:v1', descriptor);
    expect((await (await openLayout(folder)).list()).map(({ name }) => name)).toEqual(['registry.example.com/demo/digits:v1']);
  });

  it('reads, hashes and writes each byte of a file once, and nothing the second time', async () => {
    const path = fileURLToPath(import.meta.url);
    const { size } = statSync(path);
    const counters = createCounters();
    const store = await openLocalStore({ home: join(folder, 'home'), counters });
    const blob = await store.put({ kind: 'file', path, size });
    expect(counters).toMatchObject({ read: size, hashed: size, written: size, skipped: 0 });
    const again = await openLocalStore({ home: join(folder, 'home'), counters });
    expect(await again.put({ kind: 'file', path, size })).toEqual({ ...blob, fresh: false });
    expect(counters).toMatchObject({ read: size, hashed: size, written: size, skipped: size });
    rmSync(join(store.path, 'blobs/sha256', blob.digest.slice(7)), { force: true });
    expect(await again.put({ kind: 'file', path, size })).toMatchObject({ digest: blob.digest, fresh: true });
  });
});
