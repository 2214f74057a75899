import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOwner, toOwnerText } from '../bytes/index.js';
import { type Descriptor, defaultLimits, silentProgress } from '../core/index.js';
import { emptyDescriptor, emptyJson, mediaTypes, serialize, verifyGraph } from '../oci/index.js';
import { toBlobPath } from './blob-path.js';
import { type LayoutStore, openLocalStore, prune } from './index.js';
import { listBlobs, sweep } from './sweep.js';

let home: string;
let store: LayoutStore;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'prune-'));
  store = await openLocalStore({ home, digestCache: false });
});
afterEach(() => rmSync(home, { recursive: true }));

async function putText(text: string): Promise<Descriptor> {
  const { digest, size } = await store.put({ kind: 'bytes', bytes: Buffer.from(text) });
  return { mediaType: 'application/octet-stream', digest, size };
}

async function putJson(value: unknown, mediaType: string): Promise<Descriptor> {
  const { bytes, descriptor } = serialize(value, mediaType);
  await store.put({ kind: 'bytes', bytes });
  return descriptor;
}

async function putManifest(layers: readonly Descriptor[], more: object = {}): Promise<Descriptor> {
  await store.put({ kind: 'bytes', bytes: emptyJson });
  return putJson({ schemaVersion: 2, mediaType: mediaTypes.manifest, config: emptyDescriptor, layers, ...more }, mediaTypes.manifest);
}

/** Everything was put an hour ago. */
function age(): void {
  const hourAgo = Date.now() / 1000 - 3600;
  for (const { digest } of listBlobs(home)) utimesSync(toBlobPath(home, digest), hourAgo, hourAgo);
}

const digests = (blobs: readonly { digest: string }[]) => blobs.map(({ digest }) => digest).toSorted();

async function verify(root: Descriptor): Promise<unknown> {
  return (await verifyGraph(root, store, { limits: defaultLimits, progress: silentProgress, concurrency: 2 })).problems;
}

describe('prune', () => {
  it('does nothing to a store that does not exist yet', async () => {
    const nowhere = await openLocalStore({ home: join(home, 'none') });
    expect(await prune(nowhere)).toEqual({ removed: [], freedBytes: 0, kept: 0, leftovers: 0, uploads: 0, claims: 0, untagged: [] });
    expect(existsSync(nowhere.path)).toBe(false);
  });

  it('keeps what the index reaches through indexes, names, unnamed roots and subjects', async () => {
    const subject = await putManifest([await putText('subject')]);
    const attached = await putManifest([await putText('signature')], { subject });
    const index = await putJson(
      { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [await putManifest([await putText('w')])] },
      mediaTypes.index,
    );
    await store.tag('a', index);
    await store.addRoot(attached);
    await store.tag('note', await putText('no manifest at all'));
    const lost = [await putText('lost'), await putManifest([await putText('lost too')])];
    age();
    const dry = await prune(store, { dryRun: true });
    expect(dry).toMatchObject({ kept: 9, leftovers: 0 });
    expect(dry.removed).toHaveLength(3);
    expect(await prune(store)).toEqual(dry);
    expect(dry.freedBytes).toBe(dry.removed.reduce((sum, { size }) => sum + size, 0));
    expect(await Promise.all(lost.map((blob) => store.has(blob)))).toEqual([false, false]);
    expect(await Promise.all([index, attached, subject].map(verify))).toEqual([[], [], []]);
    expect(await prune(store)).toMatchObject({ removed: [], kept: 9 });
    expect(readdirSync(home).toSorted()).toEqual(['blobs', 'index.json', 'oci-layout']);
  });

  it('removes what a moved and a removed name leave behind', async () => {
    const [first, second] = [await putManifest([await putText('1')]), await putManifest([await putText('2')])];
    await store.tag('a', first);
    await store.tag('a', second);
    age();
    expect(digests((await prune(store)).removed)).toContain(first.digest);
    await store.remove('a');
    expect(await prune(store)).toMatchObject({ kept: 0 });
  });

  it('keeps what was put, or counted on, under a lease', async () => {
    const old = await putText('old');
    const counted = await putText('counted on');
    age();
    const lease = await store.lease();
    const fresh = await putText('fresh');
    await store.put({ kind: 'bytes', bytes: Buffer.from('counted on') }, { expected: counted });
    const other = await openLocalStore({ home });
    expect(digests((await prune(other)).removed)).toEqual([old.digest]);
    expect(await store.has(fresh)).toBe(true);
    lease.release();
    age();
    expect(digests((await prune(other)).removed)).toEqual(digests([fresh, counted]));
  });

  it('clears away what dead writers left, and nothing of live ones', async () => {
    const dead = join(home, 'ingest', '4194305-0123456789abcdef');
    const lease = await store.lease();
    await putText('x');
    mkdirSync(dead);
    writeFileSync(join(dead, 'owner'), toOwnerText({ ...createOwner(), pid: 2 ** 22 + 1 }));
    writeFileSync(join(dead, '1'), 'half a blob');
    mkdirSync(join(home, 'registry'));
    const temporaries = ['.', 'registry'].map((name) => join(home, name, '.modelport-1-0123456789ab.tmp'));
    for (const temporary of temporaries) writeFileSync(temporary, '');
    expect(await prune(store, { dryRun: true })).toMatchObject({ leftovers: 1 });
    for (const temporary of temporaries) utimesSync(temporary, 1, 1);
    expect(await prune(store)).toMatchObject({ leftovers: 3, removed: [] });
    expect(existsSync(dead)).toBe(false);
    expect(readdirSync(join(home, 'ingest'))).toHaveLength(1);
    lease.release();
  });

  it('takes back what a pruner that died had put into the trash', async () => {
    const root = await putManifest([await putText('w')]);
    await store.tag('a', root);
    mkdirSync(join(home, 'trash'));
    renameSync(toBlobPath(home, root.digest), join(home, 'trash', root.digest.replace(':', '-')));
    age();
    expect(await prune(store)).toMatchObject({ removed: [], kept: 3 });
    expect(await verify(root)).toEqual([]);
  });

  it('stops before it removes anything when a named manifest is damaged', async () => {
    const root = await putManifest([await putText('w')]);
    await store.tag('a', root);
    await putText('lost');
    age();
    const path = toBlobPath(home, root.digest);
    rmSync(path);
    writeFileSync(path, Buffer.alloc(root.size, 0x20));
    await expect(prune(store)).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    expect(listBlobs(home)).toHaveLength(4);
    await store.remove('a');
    age();
    expect(await prune(store)).toMatchObject({ kept: 0 });
  });

  it('ends when it is told to, and takes nothing more', async () => {
    await store.tag('a', await putManifest([await putText('w')]));
    await putText('lost');
    age();
    await expect(prune(store, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(listBlobs(home)).toHaveLength(4);
    expect(await prune(store)).toMatchObject({ removed: [{ size: 4 }] });
  });

  it('leaves alone what is no blob', async () => {
    await putText('lost');
    writeFileSync(join(home, 'blobs/sha256/README'), 'mine');
    writeFileSync(join(home, 'notes.txt'), 'mine');
    age();
    await prune(store);
    expect(readdirSync(join(home, 'blobs/sha256'))).toEqual(['README']);
    expect(existsSync(join(home, 'notes.txt'))).toBe(true);
  });
});

describe('sweep', () => {
  it('leaves a blob that somebody counted on since it was listed', async () => {
    const blob = await putText('lost');
    age();
    const [listed] = listBlobs(home);
    await store.put({ kind: 'bytes', bytes: Buffer.from('lost') }, { expected: blob });
    expect(listed !== undefined && sweep(home, listed)).toBe(false);
    expect(statSync(toBlobPath(home, blob.digest)).size).toBe(4);
  });
});
