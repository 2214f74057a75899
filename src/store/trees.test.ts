import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOwner, toOwnerText } from '../bytes/index.js';
import type { Descriptor } from '../core/index.js';
import { type LayoutStore, openLocalStore, prune, withTree } from './index.js';

let home: string;
let store: LayoutStore;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'trees-'));
  store = await openLocalStore({ home, digestCache: false });
});
afterEach(() => rmSync(home, { recursive: true }));

async function putRoot(text: string): Promise<Descriptor> {
  const { digest, size } = await store.put({ kind: 'bytes', bytes: Buffer.from(text) });
  const root = { mediaType: 'application/octet-stream', digest, size };
  await store.tag(text, root);
  return root;
}

const makeTree = ({ digest }: Descriptor) =>
  withTree(store, digest, async (tree) => {
    mkdirSync(tree);
    writeFileSync(join(tree, 'model.bin'), 'bytes', { mode: 0o444 });
    return tree;
  });

describe('withTree', () => {
  it('gives the same place to one at a time', async () => {
    const root = await putRoot('a');
    let inside = 0;
    const visit = (tree: string) => {
      expect([++inside, tree]).toEqual([1, join(home, 'trees', root.digest.replace(':', '-'))]);
      return new Promise((resolve) => setImmediate(() => resolve((inside -= 1))));
    };
    await Promise.all([1, 2, 3].map(() => withTree(store, root.digest, visit)));
    expect(existsSync(join(home, 'trees'))).toBe(false);
  });
});

describe('prune', () => {
  it('keeps the trees of packages that are there and removes the others', async () => {
    const [kept, gone] = [await makeTree(await putRoot('kept')), await makeTree(await putRoot('gone'))];
    expect(await prune(store)).toMatchObject({ leftovers: 0 });
    await store.remove('gone');
    expect(await prune(store, { dryRun: true })).toMatchObject({ leftovers: 1 });
    expect(existsSync(gone)).toBe(true);
    expect(await prune(store)).toMatchObject({ leftovers: 1 });
    expect([existsSync(kept), existsSync(gone)]).toEqual([true, false]);
    await store.remove('kept');
    await prune(store);
    expect(readdirSync(home).toSorted()).toEqual(['blobs', 'index.json', 'oci-layout']);
  });

  it('waits until nobody works on a tree', async () => {
    const tree = await makeTree(await putRoot('a'));
    const unfinished = join(home, 'trees', '.modelport-1-0123456789ab.tmp');
    mkdirSync(unfinished);
    utimesSync(unfinished, 1, 1);
    await store.remove('a');
    writeFileSync(`${tree}.lock`, toOwnerText(createOwner()));
    expect(await prune(store)).toMatchObject({ leftovers: 0 });
    expect([existsSync(tree), existsSync(unfinished)]).toEqual([true, true]);
    writeFileSync(`${tree}.lock`, toOwnerText({ ...createOwner(), pid: 2 ** 22 + 1 }));
    expect(await prune(store)).toMatchObject({ leftovers: 2 });
    expect(existsSync(join(home, 'trees'))).toBe(false);
  });
});
