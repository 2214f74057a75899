/** A manifest and whoever prunes the store at the same moment. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { askOf, manifestType, pushBlob, sha256, toManifest } from '../../../test/support/ask-registry.js';
import type { RegistryStore } from '../../core/index.js';
import { type LayoutRegistryStore, openRegistryStore, prune } from '../../store/index.js';
import { createRegistry } from './registry.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'put-manifest-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Everything that is there is older than what comes next, by the clock of the file system. */
function outlast(path: string): void {
  const probe = join(folder, 'probe');
  do writeFileSync(probe, 'x');
  while (statSync(probe).mtimeMs <= statSync(path).mtimeMs);
}

/** A store that is pruned, without any grace, whenever a manifest has been put and no root holds it yet. */
function prunedInBetween(store: LayoutRegistryStore, toPath: () => string, removed: string[]): RegistryStore {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'changeRoots') {
        return async (...args: Parameters<RegistryStore['changeRoots']>) => {
          outlast(toPath());
          removed.push(...(await prune(target, { graceMs: 0 })).removed.map(({ digest }) => digest));
          return target.changeRoots(...args);
        };
      }
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

it('stays when the store is pruned before a root holds it', async () => {
  const store = await openRegistryStore(join(folder, 'layout'), { create: true });
  const { text } = toManifest(['one']);
  const removed: string[] = [];
  const toPath = () => toBlobPath(store, text);
  const ask = askOf(createRegistry({ store: prunedInBetween(store, toPath, removed) }));
  for (const content of ['{}', 'one']) await pushBlob(ask, 'demo/a', content);
  await store.put({ kind: 'bytes', bytes: Buffer.from('nobody needs it') });
  outlast(toBlobPath(store, 'nobody needs it'));
  const put = () => ask('PUT', '/v2/demo/a/manifests/v1', { headers: { 'Content-Type': manifestType }, body: text });
  expect([(await put()).status, removed]).toEqual([201, [sha256('nobody needs it')]]);
  expect((await ask('GET', '/v2/demo/a/manifests/v1')).bytes.toString()).toBe(text);
});

function toBlobPath({ path }: LayoutRegistryStore, content: string): string {
  return join(path, 'blobs', sha256(content).replace(':', '/'));
}
