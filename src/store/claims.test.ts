import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDistantBlob } from '../../test/support/distant-blob.js';
import { createOwner, toOwnerText } from '../bytes/index.js';
import { type Descriptor, type Digest, repositoryAnnotation } from '../core/index.js';
import { emptyDescriptor, emptyJson, mediaTypes, serialize } from '../oci/index.js';
import { toBlobPath } from './blob-path.js';
import { type LayoutRegistryStore, openRegistryStore, prune } from './index.js';
import { toPartial } from './partials.js';
import { listBlobs } from './sweep.js';

const hour = 3_600_000;
const day = 24 * hour;

let folder: string;
let path: string;
let store: LayoutRegistryStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'claims-'));
  path = join(folder, 'layout');
  store = await openRegistryStore(path, { create: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

async function putText(text: string): Promise<Descriptor> {
  const { digest, size } = await store.put({ kind: 'bytes', bytes: Buffer.from(text) });
  return { mediaType: 'application/octet-stream', digest, size };
}

async function putManifest(layers: readonly Descriptor[], more: object = {}): Promise<Descriptor> {
  await store.put({ kind: 'bytes', bytes: emptyJson });
  const { bytes, descriptor } = serialize(
    { schemaVersion: 2, mediaType: mediaTypes.manifest, config: emptyDescriptor, layers, ...more },
    mediaTypes.manifest,
  );
  await store.put({ kind: 'bytes', bytes });
  return descriptor;
}

const setAge = (file: string, ageMs: number) => utimesSync(file, (Date.now() - ageMs) / 1000, (Date.now() - ageMs) / 1000);
const toClaim = (repository: string, digest: Digest) => join(path, 'registry/claims', repository, '_', digest.replace(':', '-'));
/** Everything was put so long ago. */
const age = (ageMs: number) => listBlobs(path).forEach(({ digest }) => setAge(toBlobPath(path, digest), ageMs));
const untagged = (descriptor: Descriptor, repository = 'demo') => ({
  descriptor: { ...descriptor, annotations: { [repositoryAnnotation]: repository } },
});
const hold = (...descriptors: Descriptor[]) => store.changeRoots((all) => [...all, ...descriptors.map((each) => untagged(each))]);

describe('a claim', () => {
  it('is an empty file that outlives the process; claiming again renews its time', async () => {
    const { digest } = await putText('a');
    await store.claim('demo/digits', digest);
    const file = toClaim('demo/digits', digest);
    expect(statSync(file).size).toBe(0);
    setAge(file, day);
    const other = await openRegistryStore(path);
    expect(other.hasClaim('demo/digits', digest)).toBe(true);
    await other.claim('demo/digits', digest);
    expect(Date.now() - statSync(file).mtimeMs).toBeLessThan(hour);
    await other.dropClaim('demo/digits', digest);
    expect(existsSync(join(path, 'registry'))).toBe(false);
  });

  it('tells a collector that its blob is counted on, as touching does', async () => {
    const { digest } = await putText('a');
    for (const touch of [() => store.claim('demo', digest), async () => store.touch(digest)]) {
      age(day);
      await touch();
      expect(Date.now() - statSync(toBlobPath(path, digest)).mtimeMs).toBeLessThan(hour);
    }
  });

  it('is no link, and a link is not written through', async () => {
    const { digest } = await putText('a');
    const outside = join(folder, 'outside');
    writeFileSync(outside, 'mine');
    utimesSync(outside, 1, 1);
    const file = toClaim('demo', digest);
    mkdirSync(dirname(file), { recursive: true });
    symlinkSync(outside, file);
    expect(store.hasClaim('demo', digest)).toBe(false);
    expect(store.listClaims('demo')).toEqual([]);
    await store.claim('demo', digest);
    expect(lstatSync(file).isFile()).toBe(true);
    expect(statSync(outside).mtimeMs).toBe(1000);
    symlinkSync(folder, join(path, 'registry/claims/linked'));
    expect(store.listClaimants()).toEqual(['demo']);
  });
});

describe('prune', () => {
  it('keeps a claimed blob for a day, and then neither', async () => {
    const [young, old] = [await putText('young'), await putText('old')];
    for (const { digest } of [young, old]) await store.claim('demo', digest);
    setAge(toClaim('demo', young.digest), day - hour);
    setAge(toClaim('demo', old.digest), day + hour);
    age(2 * day);
    const dry = await prune(store, { dryRun: true });
    expect(dry).toMatchObject({ removed: [{ digest: old.digest }], kept: 1, claims: 1 });
    expect(store.listClaims('demo')).toHaveLength(2);
    expect(await prune(store)).toEqual(dry);
    expect(store.listClaims('demo')).toEqual([young.digest]);
    expect(await store.has(young)).toBe(true);
  });

  it('removes settled claims that the manifests of their repository make needless, and no others', async () => {
    const layer = await putText('w');
    await store.tag('demo:1', await putManifest([layer]));
    for (const repository of ['demo', 'demo/other', 'fresh']) await store.claim(repository, layer.digest);
    await store.tag('fresh:1', await putManifest([layer]));
    for (const repository of ['demo', 'demo/other']) setAge(toClaim(repository, layer.digest), 2 * hour);
    expect(await prune(store)).toMatchObject({ claims: 1, kept: 3 });
    expect(store.listClaimants().toSorted()).toEqual(['demo/other', 'fresh']);
    await store.claim('held', layer.digest);
    setAge(toClaim('held', layer.digest), 2 * hour);
    await store.changeRoots((all) => [...all, untagged(all[0]!.descriptor, 'held')]);
    expect(await prune(store)).toMatchObject({ claims: 1 });
    expect(store.hasClaim('held', layer.digest)).toBe(false);
  });

  it('removes settled claims on blobs that are gone, but not on one that still comes', async () => {
    const [gone, coming, soon] = ['gone', 'coming', 'soon'].map((seed) => createDistantBlob(10, { seed }).descriptor.digest);
    for (const digest of [gone!, coming!, soon!]) await store.claim('demo', digest);
    for (const digest of [gone!, coming!]) setAge(toClaim('demo', digest), 2 * hour);
    await putText('makes it a layout');
    const partial = toPartial(path, coming!);
    mkdirSync(dirname(partial.path), { recursive: true });
    writeFileSync(partial.path, 'b');
    expect(await prune(store)).toMatchObject({ claims: 1 });
    expect([gone!, coming!, soon!].map((digest) => existsSync(toClaim('demo', digest)))).toEqual([false, true, true]);
  });

  it('with a grace keeps what was put or touched lately', async () => {
    const [touched, old] = [await putText('touched'), await putText('old')];
    age(3 * hour);
    store.touch(touched.digest);
    expect(await prune(store, { graceMs: hour, dryRun: true })).toMatchObject({ removed: [{ digest: old.digest }] });
    expect(await prune(store, { graceMs: 4 * hour })).toMatchObject({ removed: [] });
    expect(await prune(store, { graceMs: hour })).toMatchObject({ removed: [{ digest: old.digest }], kept: 1 });
    setAge(toBlobPath(path, touched.digest), hour / 2);
    expect(await prune(store)).toMatchObject({ removed: [{ digest: touched.digest }] });
  });

  it('purges uploads of last week, none that is younger or in work', async () => {
    const uploads = await Promise.all([1, 2, 3].map(() => store.beginUpload('demo', 'sha256')));
    const toFolder = (id: string) => join(path, 'ingest/uploads', id);
    for (const upload of uploads) {
      await upload.append(
        (async function* () {
          yield Buffer.from('12345');
        })(),
      );
    }
    const [young, old, busy] = uploads.map(({ id }) => id);
    setAge(join(toFolder(young!), 'data'), 6 * day);
    for (const id of [old!, busy!]) setAge(join(toFolder(id), 'data'), 8 * day);
    writeFileSync(join(toFolder(busy!), 'lock'), toOwnerText(createOwner()));
    expect(await prune(store, { dryRun: true })).toMatchObject({ uploads: 1, freedBytes: 5, leftovers: 0 });
    expect(await prune(store)).toMatchObject({ uploads: 1, freedBytes: 5, leftovers: 0 });
    expect(readdirSync(join(path, 'ingest/uploads')).toSorted()).toEqual([young, busy].toSorted());
    expect(await prune(store, { uploadAgeMs: day })).toMatchObject({ uploads: 1 });
  });
});

describe('prune of manifests without a tag', () => {
  const options = { untagged: { olderThanMs: day } };

  it('keeps them unless it is asked to, and young, tagged and foreign ones always', async () => {
    const [old, young, tagged, foreign] = await Promise.all(['1', '2', '3', '4'].map(async (text) => putManifest([await putText(text)])));
    age(2 * day);
    await hold(old!, young!);
    await store.tag('demo:1', tagged!);
    await store.addRoot(foreign!);
    store.touch(young!.digest);
    expect(await prune(store)).toMatchObject({ removed: [], untagged: [] });
    expect(await prune(store, { ...options, dryRun: true })).toMatchObject({ untagged: [{ repository: 'demo', digest: old!.digest }] });
    expect(store.readRoots()).toHaveLength(4);
    const result = await prune(store, options);
    expect(result.untagged).toEqual([{ repository: 'demo', digest: old!.digest }]);
    expect(result.removed).toHaveLength(2);
    expect(store.readRoots().map(({ descriptor }) => descriptor.digest)).toEqual([young!.digest, tagged!.digest, foreign!.digest]);
  });

  it('keeps what is attached to something that is there, until that is gone', async () => {
    const subject = await putManifest([await putText('subject')]);
    const attached = await putManifest([await putText('signature')], { subject });
    await store.tag('demo:1', subject);
    await hold(attached);
    age(2 * day);
    expect(await prune(store, options)).toMatchObject({ removed: [], untagged: [] });
    await store.remove('demo:1');
    // What is attached does not keep alive what it is attached to.
    expect((await prune(store, options)).removed.map(({ digest }) => digest)).toContain(subject.digest);
    expect(await prune(store, options)).toMatchObject({ untagged: [{ digest: attached.digest }], kept: 0 });
  });

  it('does not touch the children of an index that stays', async () => {
    const child = await putManifest([await putText('w')]);
    const { bytes, descriptor: index } = serialize({ schemaVersion: 2, mediaType: mediaTypes.index, manifests: [child] }, mediaTypes.index);
    await store.put({ kind: 'bytes', bytes });
    await hold(child);
    await store.tag('demo:1', index);
    age(2 * day);
    expect(await prune(store, options)).toMatchObject({ removed: [], untagged: [{ digest: child.digest }] });
    expect(await store.has(child)).toBe(true);
  });

  it('leaves a root that cannot be read, or is not there', async () => {
    const text = await putText('no manifest');
    const gone = await putText('gone');
    await hold(text, gone);
    age(2 * day);
    rmSync(toBlobPath(path, gone.digest));
    expect(await prune(store, options)).toMatchObject({ untagged: [], removed: [] });
    expect(store.readRoots()).toHaveLength(2);
  });
});
