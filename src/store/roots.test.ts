import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFrozenFs } from '../../test/support/frozen-fs.js';
import { defaultLimits, type Descriptor, type NamedDescriptor } from '../core/index.js';
import { type LayoutRegistryStore, openLocalStore, openRegistryStore } from './index.js';

let path: string;
let store: LayoutRegistryStore;
beforeEach(async () => {
  path = join(mkdtempSync(join(tmpdir(), 'roots-')), 'layout');
  store = await openRegistryStore(path, { create: true });
});
afterEach(() => rmSync(join(path, '..'), { recursive: true }));

async function putText(text: string): Promise<Descriptor> {
  const { digest, size } = await store.put({ kind: 'bytes', bytes: Buffer.from(text) });
  return { mediaType: 'application/octet-stream', digest, size };
}

const readIndex = (): { manifests: Record<string, unknown>[] } => JSON.parse(readFileSync(join(path, 'index.json'), 'utf8'));
const add = (name: string, descriptor: Descriptor) => (all: readonly NamedDescriptor[]) => [...all, { name, descriptor }];

describe('openRegistryStore', () => {
  it('opens what is a layout, the local store too, and with `create` what may become one', async () => {
    await expect(openRegistryStore(join(path, 'none'))).rejects.toMatchObject({ code: 'store/not-a-layout' });
    expect(existsSync(path)).toBe(false);
    const descriptor = await putText('a');
    const local = await openLocalStore({ home: path });
    await local.tag('demo/a:1', descriptor);
    expect(store.readRoots()).toMatchObject([{ name: 'demo/a:1' }]);
    expect((await openRegistryStore(path)).readRoots()).toMatchObject([{ name: 'demo/a:1' }]);
    writeFileSync(join(path, '..', 'file'), '');
    await expect(openRegistryStore(join(path, '..'), { create: true })).rejects.toMatchObject({ code: 'store/not-a-layout' });
  });

  it('has a claim and an upload in a folder that is no layout yet, and is opened again', async () => {
    await store.claim('demo', (await putText('a')).digest);
    const upload = await store.beginUpload('demo', 'sha256');
    rmSync(join(path, 'oci-layout'));
    expect(await (await openRegistryStore(path, { create: true })).findUpload(upload.id)).toMatchObject({ repository: 'demo' });
  });
});

describe('changeRoots', () => {
  it('keeps what it does not touch word by word, and names only in their annotation', async () => {
    const descriptor = await putText('a');
    await store.tag('old:1', descriptor);
    const index = readIndex();
    Object.assign(index.manifests[0]!, { urls: ['elsewhere'], 'x-more': { kept: true } });
    writeFileSync(join(path, 'index.json'), JSON.stringify({ ...index, 'x-top': 1 }));
    const more = { ...descriptor, annotations: { 'org.opencontainers.image.ref.name': 'wrong', note: 'kept' } };
    await store.changeRoots((all) => [...all, { name: 'new:1', descriptor: more }, { descriptor: more }]);
    expect(readIndex()).toMatchObject({
      'x-top': 1,
      manifests: [
        { urls: ['elsewhere'], 'x-more': { kept: true } },
        { annotations: { 'org.opencontainers.image.ref.name': 'new:1', note: 'kept' } },
        { annotations: { note: 'kept' } },
      ],
    });
    expect(readIndex().manifests[2]!['annotations']).toEqual({ note: 'kept' });
    expect(await store.list()).toMatchObject([{ name: 'old:1' }, { name: 'new:1' }, { descriptor: { annotations: { note: 'kept' } } }]);
  });

  it('keeps entries the same objects, and sees what others write', async () => {
    const descriptor = await putText('a');
    await store.changeRoots(add('a:1', descriptor));
    const [first] = store.readRoots();
    await store.changeRoots(add('a:2', descriptor));
    expect(store.readRoots()[0]).toBe(first);
    const other = await openRegistryStore(path);
    expect(other.readRoots()).toEqual(store.readRoots());
    await other.changeRoots((all) => all.slice(1));
    expect(store.readRoots().map(({ name }) => name)).toEqual(['a:2']);
    await other.changeRoots(() => []);
    expect(store.readRoots()).toEqual([]);
  });

  it('loses nothing of two stores that change at once', async () => {
    const descriptor = await putText('a');
    const other = await openRegistryStore(path);
    const changes = Array.from({ length: 100 }, (_, number) => (number % 2 === 0 ? store : other).changeRoots(add(`a:${number}`, descriptor)));
    await Promise.all(changes);
    expect(new Set(store.readRoots().map(({ name }) => name)).size).toBe(100);
    expect(new Set(other.readRoots().map(({ name }) => name)).size).toBe(100);
  });

  it('writes many changes together', async () => {
    const descriptor = await putText('a');
    await store.changeRoots(add('a:0', descriptor));
    const seen = new Set<number>();
    const change = async (number: number) => {
      await store.changeRoots(add(`a:${number}`, descriptor));
      seen.add(statSync(join(path, 'index.json')).mtimeMs);
    };
    await Promise.all(Array.from({ length: 50 }, (_, number) => change(number + 1)));
    expect(store.readRoots()).toHaveLength(51);
    expect(seen.size).toBeLessThan(5);
  });

  it('says that the disk failed to all whose change was not written', async () => {
    const descriptor = await putText('a');
    await store.changeRoots(add('a:0', descriptor));
    const settled = await (async () => {
      const results: PromiseSettledResult<void>[] = [];
      await withFrozenFs(0, async () => {
        results.push(...(await Promise.allSettled([1, 2, 3].map((number) => store.changeRoots(add(`a:${number}`, descriptor))))));
      });
      return results;
    })();
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(store.readRoots().map(({ name }) => name)).toEqual(['a:0']);
    await store.changeRoots(add('a:4', descriptor));
    expect(store.readRoots()).toHaveLength(2);
  });

  it('refuses an index that nobody could read any more', async () => {
    const descriptor = await putText('a');
    const small = await openRegistryStore(path, { limits: { ...defaultLimits, layoutIndexBytes: 1000 } });
    await small.changeRoots(add('a:1', descriptor));
    const many = Array.from({ length: 20 }, (_, number) => ({ name: `b:${number}`, descriptor }));
    await expect(small.changeRoots((all) => [...all, ...many])).rejects.toMatchObject({ code: 'bytes/limit' });
    expect(small.readRoots()).toHaveLength(1);
  });
});
