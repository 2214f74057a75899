import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withFrozenFs } from '../../test/support/frozen-fs.js';
import { defaultLimits, type Descriptor, silentProgress } from '../core/index.js';
import { emptyDescriptor, emptyJson, mediaTypes, serialize, verifyGraph } from '../oci/index.js';
import { toBlobPath } from './blob-path.js';
import { createArchive, isLayout, openArchive, openLocalStore, prune } from './index.js';
import { listBlobs } from './sweep.js';

let folder: string;
let home: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crash-'));
  home = join(folder, 'home');
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Target {
  put(content: { kind: 'bytes'; bytes: Uint8Array }): Promise<unknown>;
}

/** A package of three blobs, children first. */
async function putPackage(store: Target, text: string): Promise<Descriptor> {
  const layer = serialize({ text }, 'application/octet-stream');
  const manifest = serialize(
    { schemaVersion: 2, mediaType: mediaTypes.manifest, config: emptyDescriptor, layers: [layer.descriptor] },
    mediaTypes.manifest,
  );
  for (const bytes of [layer.bytes, emptyJson, manifest.bytes]) await store.put({ kind: 'bytes', bytes });
  return manifest.descriptor;
}

async function pack(text: string): Promise<void> {
  const store = await openLocalStore({ home, digestCache: false });
  const lease = await store.lease();
  await store.tag('demo/a:1', await putPackage(store, text));
  lease.release();
}

/** What the process that "died" holds still bears the number of this one, which lives: it gets one that nobody has. */
function bury(): void {
  const ingests = listNames(join(home, 'ingest')).map((name) => join(home, 'ingest', name, 'owner'));
  const locks = listNames(home).filter((name) => name.startsWith('index.lock'));
  for (const path of [...ingests, ...locks.map((name) => join(home, name))]) {
    try {
      writeFileSync(path, readFileSync(path, 'utf8').replace(`"pid":${process.pid}`, '"pid":4194305'));
    } catch {
      // It had not been written yet.
    }
  }
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

async function verifyNamed(): Promise<Descriptor | undefined> {
  const store = await openLocalStore({ home });
  const root = await store.resolve('demo/a:1');
  if (root === undefined) return undefined;
  expect((await verifyGraph(root, store, { limits: defaultLimits, progress: silentProgress, concurrency: 1 })).problems).toEqual([]);
  return root;
}

function age(): void {
  for (const { digest } of listBlobs(home)) utimesSync(toBlobPath(home, digest), 1, 1);
}

describe('a process that dies at any step', () => {
  it('of packing leaves the old package or the new one, and packing again works', async () => {
    await pack('old');
    const old = await verifyNamed();
    const seen = new Set<string>();
    for (let step = 0, finished = false; !finished; step++) {
      finished = await withFrozenFs(step, () => pack(`new ${step}`));
      bury();
      const root = await verifyNamed();
      seen.add(root?.digest === old?.digest ? 'old' : 'new');
      await pack('old');
      expect((await verifyNamed())?.digest).toBe(old?.digest);
    }
    expect(seen).toEqual(new Set(['old', 'new']));
    age();
    for (const name of [...listNames(home), ...listNames(join(home, 'ingest')).map((id) => join('ingest', id))]) utimesSync(join(home, name), 1, 1);
    await prune(await openLocalStore({ home }));
    expect(listBlobs(home)).toHaveLength(3);
    expect(listNames(home).toSorted()).toEqual(['blobs', 'index.json', 'oci-layout']);
  });

  it('of the very first packing leaves nothing or a layout', async () => {
    for (let step = 0, finished = false; !finished; step++) {
      finished = await withFrozenFs(step, () => pack('first'));
      bury();
      if (isLayout(home)) await verifyNamed();
      await pack('first');
      expect(await verifyNamed()).toBeDefined();
      rmSync(home, { recursive: true });
    }
  });

  it('of pruning leaves every named package whole, and pruning again works', async () => {
    for (let step = 0, finished = false; !finished; step++) {
      await pack(`lost ${step}`);
      await pack('kept');
      age();
      finished = await withFrozenFs(step, async () => prune(await openLocalStore({ home })));
      bury();
      expect(await verifyNamed()).toBeDefined();
      age();
      await prune(await openLocalStore({ home }));
      expect(await verifyNamed()).toBeDefined();
      expect(listBlobs(home)).toHaveLength(3);
    }
  });

  it('of writing an archive leaves the old archive or the new one', async () => {
    const path = join(folder, 'package.tar');
    const write = async (text: string) => {
      const archive = await createArchive(path, 'oci-archive');
      await archive.tag('a', await putPackage(archive, text));
      await archive.commit();
    };
    await write('old');
    const seen = new Set<string | undefined>();
    for (let step = 0, finished = false; !finished; step++) {
      finished = await withFrozenFs(step, () => write('new'));
      const archive = await openArchive(path);
      const root = (await archive.resolve('a')) as Descriptor;
      expect((await verifyGraph(root, archive, { limits: defaultLimits, progress: silentProgress, concurrency: 1 })).problems).toEqual([]);
      seen.add(root.digest);
    }
    expect(seen.size).toBe(2);
  });
});
