import { collect } from '../../src/bytes/index.js';
import { type Descriptor, isDigest } from '../../src/core/index.js';
import { openLocalStore } from '../../src/store/index.js';
import type { Workbench } from './workbench.js';

export interface StoredManifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The manifest of a package in the local store, by name or digest. */
export async function readManifest(bench: Workbench, name: string): Promise<StoredManifest> {
  const store = await openLocalStore({ home: bench.home });
  const root = isDigest(name) ? await store.findBlob(name) : await store.resolve(name);
  return (await readJson(bench, root)) as StoredManifest;
}

export async function readConfig(bench: Workbench, name: string): Promise<unknown> {
  return readJson(bench, (await readManifest(bench, name)).config);
}

async function readJson(bench: Workbench, descriptor: Descriptor | undefined): Promise<unknown> {
  if (descriptor === undefined) throw new Error('Not in the store');
  const store = await openLocalStore({ home: bench.home });
  return JSON.parse(Buffer.from(await collect(await store.open(descriptor), 1e7, 'a document')).toString());
}
