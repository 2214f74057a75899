import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestBytes } from '../../test/suites/registry-store-suite.js';
import { type ByteCounters, createCounters, type Descriptor, type Digest, type Progress, repositoryAnnotation } from '../core/index.js';
import { emptyDescriptor, emptyJson, mediaTypes, serialize } from '../oci/index.js';
import { toBlobPath } from './blob-path.js';
import { hashBlobFile } from './hash-blob-file.js';
import { type LayoutRegistryStore, markMirror, openRegistryStore, prune, scrub } from './index.js';
import { setAside } from './quarantine.js';

let path: string;
let counters: ByteCounters;
let store: LayoutRegistryStore;
beforeEach(async () => {
  path = join(mkdtempSync(join(tmpdir(), 'scrub-')), 'layout');
  counters = createCounters();
  store = await openRegistryStore(path, { create: true });
});
afterEach(() => rmSync(join(path, '..'), { recursive: true }));

async function putText(text: string): Promise<Descriptor> {
  const { digest, size } = await store.put({ kind: 'bytes', bytes: Buffer.from(text) });
  return { mediaType: 'application/octet-stream', digest, size };
}

async function putPackage(name: string, layers: readonly Descriptor[]): Promise<Descriptor> {
  await store.put({ kind: 'bytes', bytes: emptyJson });
  const { bytes, descriptor } = serialize({ schemaVersion: 2, mediaType: mediaTypes.manifest, config: emptyDescriptor, layers }, mediaTypes.manifest);
  await store.put({ kind: 'bytes', bytes });
  await store.tag(name, descriptor);
  return descriptor;
}

function overwrite(digest: Digest, bytes: string): void {
  const file = toBlobPath(path, digest);
  rmSync(file, { recursive: true, force: true });
  writeFileSync(file, bytes);
}

const toAside = (digest: Digest) => join(path, 'quarantine', digest.replace(':', '-'));

describe('scrub', () => {
  it('finds nothing in a store that is whole, and reads each byte once', async () => {
    await putPackage('demo:1', [await putText('w')]);
    const bytes = Buffer.from('named by sha512');
    await store.put({ kind: 'bytes', bytes }, { expected: { digest: digestBytes(bytes, 'sha512'), size: bytes.length } });
    const result = await scrub(store, { counters });
    expect(result).toEqual({ checked: 4, bytes: counters.read, bad: [], missing: [], affected: [] });
    expect(counters.hashed).toBe(counters.read);
    expect(existsSync(join(path, 'quarantine'))).toBe(false);
  });

  it('misses nothing in the folder of a mirror, but still finds what is bad', async () => {
    const [asked, bad] = [await putText('not asked for yet'), await putText('bad')];
    await putPackage('demo:1', [asked]);
    await putPackage('demo:2', [bad]);
    rmSync(toBlobPath(path, asked.digest));
    overwrite(bad.digest, 'BAD');
    expect(await scrub(store, { dryRun: true })).toMatchObject({ missing: [{ digest: asked.digest }], affected: ['demo:1', 'demo:2'] });
    markMirror(path, 'https://far.example');
    expect(await scrub(store)).toMatchObject({ bad: [{ digest: bad.digest }], missing: [], affected: ['demo:2'] });
  });

  it('sets flipped bytes aside, so that they can be put again', async () => {
    const [good, flipped] = [await putText('good'), await putText('flipped')];
    const bytes = Buffer.from('wide');
    const wide = digestBytes(bytes, 'sha512');
    await store.put({ kind: 'bytes', bytes }, { expected: { digest: wide, size: 4 } });
    await putPackage('demo:1', [good, flipped]);
    await putPackage('demo:2', [good]);
    overwrite(flipped.digest, 'fl1pped');
    overwrite(wide, 'w1de');
    const found = digestBytes(Buffer.from('fl1pped'));
    const dry = await scrub(store, { dryRun: true });
    expect(dry.bad).toHaveLength(2);
    expect(dry).toMatchObject({ checked: 6, missing: [], affected: ['demo:1'] });
    expect(dry.bad).toContainEqual({ digest: flipped.digest, size: 7, found, path: toBlobPath(path, flipped.digest) });
    const result = await scrub(store);
    expect(result).toMatchObject({ checked: 6, missing: [], affected: ['demo:1'] });
    expect(result.bad).toContainEqual({ digest: flipped.digest, size: 7, found, path: toAside(flipped.digest) });
    expect(readFileSync(toAside(flipped.digest), 'utf8')).toBe('fl1pped');
    expect(await store.has(flipped)).toBe(false);
    expect(await scrub(store)).toMatchObject({ bad: [], missing: [{ digest: flipped.digest, neededBy: 'demo:1' }], affected: ['demo:1'] });
    await putText('flipped');
    expect(await scrub(store)).toMatchObject({ checked: 5, bad: [], missing: [], affected: [] });
    await prune(store);
    expect(existsSync(toAside(flipped.digest))).toBe(true);
  });

  it('says which packages are not whole, by name and without one', async () => {
    const [gone, layer] = [await putText('gone'), await putText('layer')];
    const manifest = await putPackage('demo:1', [gone, layer]);
    await store.tag('demo:again', manifest);
    await store.changeRoots((all) => [...all, { descriptor: { ...manifest, annotations: { [repositoryAnnotation]: 'held' } } }]);
    const child = await putPackage('child:1', [layer]);
    const { bytes, descriptor: index } = serialize({ schemaVersion: 2, mediaType: mediaTypes.index, manifests: [child] }, mediaTypes.index);
    await store.put({ kind: 'bytes', bytes });
    await store.tag('index:1', index);
    for (const { digest } of [gone, child]) rmSync(toBlobPath(path, digest));
    const result = await scrub(store);
    expect(result.bad).toEqual([]);
    expect(result.missing).toEqual([
      { digest: gone.digest, neededBy: 'demo:1' },
      { digest: child.digest, neededBy: 'child:1' },
    ]);
    expect(result.affected).toEqual(['demo:1', 'demo:again', `held@${manifest.digest}`, 'child:1', 'index:1']);
  });

  it('tells a damaged manifest, and no manifest at all, from one another', async () => {
    const manifest = await putPackage('demo:1', [await putText('w')]);
    await store.tag('note:1', await putText('{"no": "manifest"}'));
    overwrite(manifest.digest, 'x'.repeat(manifest.size));
    expect(await scrub(store)).toMatchObject({ bad: [{ digest: manifest.digest }], missing: [], affected: ['demo:1'] });
  });

  it('sets aside what is no plain file, without looking behind it', async () => {
    const [link, directory, loop] = [await putText('link'), await putText('folder'), await putText('loop')];
    const outside = join(path, '..', 'outside');
    writeFileSync(outside, 'link');
    for (const { digest } of [link, directory, loop]) rmSync(toBlobPath(path, digest));
    symlinkSync(outside, toBlobPath(path, link.digest));
    mkdirSync(toBlobPath(path, directory.digest));
    symlinkSync(toBlobPath(path, loop.digest), toBlobPath(path, loop.digest));
    mkdirSync(toAside(link.digest), { recursive: true });
    writeFileSync(join(toAside(link.digest), 'of an earlier time'), '');
    const { bad } = await scrub(store);
    expect(bad.map(({ found }) => found)).toEqual([null, null, null]);
    for (const { digest } of [link, directory, loop]) expect(bad).toContainEqual(expect.objectContaining({ digest, path: toAside(digest) }));
    expect(readFileSync(outside, 'utf8')).toBe('link');
    expect(await scrub(store)).toMatchObject({ checked: 0, bad: [] });
  });

  it('can be cancelled, slowed down and watched', async () => {
    await putText('a'.repeat(100_000));
    await expect(scrub(store, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'core/cancelled' });
    const events: string[] = [];
    const item = { advance: (bytes: number) => events.push(`+${bytes}`), done: (outcome = 'done') => events.push(outcome) };
    const progress = { start: () => item } as unknown as Progress;
    await scrub(store, { progress, bytesPerSecond: 1e9 });
    expect(events).toEqual(['+100000', '+0', 'done']);
    const abort = new AbortController();
    const slow = scrub(store, { bytesPerSecond: 1, signal: abort.signal });
    abort.abort();
    await expect(slow).rejects.toMatchObject({ code: 'core/cancelled' });
  });

  it('does nothing to a store that does not exist yet', async () => {
    expect(await scrub(store)).toEqual({ checked: 0, bytes: 0, bad: [], missing: [], affected: [] });
    expect(existsSync(path)).toBe(false);
  });
});

describe('what changes while it is looked at', () => {
  const options = (onBytes: () => void) => ({ counters, signal: undefined, onBytes: async () => onBytes() });

  it('is looked at again when another file has taken its place', async () => {
    const { digest } = await putText('right');
    overwrite(digest, 'wrong');
    let seen = 0;
    const hashed = await hashBlobFile(
      path,
      digest,
      options(() => {
        if (seen++ > 0) return;
        const whole = join(path, 'whole');
        writeFileSync(whole, 'right');
        renameSync(whole, toBlobPath(path, digest));
      }),
    );
    expect(hashed?.found).toBe(digest);
  });

  it('is not judged when it is gone', async () => {
    const { digest } = await putText('right');
    overwrite(digest, 'wrong');
    const remove = () => rmSync(toBlobPath(path, digest), { force: true });
    expect(await hashBlobFile(path, digest, options(remove))).toBeUndefined();
    expect(setAside(path, digest, '1:1')).toBeUndefined();
  });

  it('goes back when the file that was judged is another', async () => {
    const { digest } = await putText('right');
    const hashed = await hashBlobFile(
      path,
      digest,
      options(() => {}),
    );
    overwrite(digest, 'right');
    writeFileSync(join(path, 'keeps the number of the old file taken'), '');
    expect(setAside(path, digest, `${hashed?.file}0`)).toBeUndefined();
    expect(readFileSync(toBlobPath(path, digest), 'utf8')).toBe('right');
    expect(existsSync(toAside(digest))).toBe(false);
  });

  it('fails when it may not be read, instead of judging it', async () => {
    const { digest } = await putText('right');
    const parent = join(path, 'blobs');
    rmSync(parent, { recursive: true });
    writeFileSync(parent, '');
    await expect(
      hashBlobFile(
        path,
        digest,
        options(() => {}),
      ),
    ).rejects.toMatchObject({ code: 'bytes/not-found' });
  });
});
