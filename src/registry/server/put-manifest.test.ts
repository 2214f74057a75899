/** A manifest and whoever prunes the store at the same moment. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { askOf, indexType, manifestType, pushBlob, pushPackage, sha256, toManifest } from '../../../test/support/ask-registry.js';
import { defaultLimits, type RegistryStore } from '../../core/index.js';
import { type LayoutRegistryStore, openRegistryStore, prune } from '../../store/index.js';
import type { RegistryHandler } from './http.js';
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

it('is mended by pushing it again', async () => {
  const store = await openRegistryStore(join(folder, 'layout'), { create: true });
  const push = (handler: RegistryHandler) => pushPackage(askOf(handler), 'demo/a', 'v1', ['one']);
  const digest = await push(createRegistry({ store }));
  const { text } = toManifest(['one']);
  const path = toBlobPath(store, text);
  rmSync(path);
  writeFileSync(path, text.replace('"schemaVersion":2', '"schemaVersion":3'));
  const later = createRegistry({ store });
  const get = () => askOf(later)('GET', `/v2/demo/a/manifests/${digest}`);
  expect((await get()).status).toBe(500);
  await push(later);
  expect((await get()).bytes.toString()).toBe(text);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it('is refused when it names more than a collector walks through', async () => {
  const store = await openRegistryStore(join(folder, 'layout'), { create: true });
  const ask = askOf(createRegistry({ store, limits: { ...defaultLimits, graphNodes: 10 } }));
  const children = [
    await pushPackage(ask, 'demo/a', undefined, ['1', '2', '3', '4']),
    await pushPackage(ask, 'demo/a', undefined, ['5', '6', '7', '8']),
  ];
  const put = async (digests: readonly string[]) => {
    const sizes = await Promise.all(digests.map(async (digest) => (await ask('GET', `/v2/demo/a/manifests/${digest}`)).bytes.length));
    const manifests = digests.map((digest, at) => ({ mediaType: manifestType, digest, size: sizes[at] }));
    const body = JSON.stringify({ schemaVersion: 2, mediaType: indexType, manifests });
    return ask('PUT', '/v2/demo/a/manifests/all', { headers: { 'Content-Type': indexType }, body });
  };
  expect((await put(children)).code).toBe('MANIFEST_INVALID');
  expect((await put(children.slice(1))).status).toBe(201);
  // What is listed twice is walked through once.
  expect((await put([...children.slice(1), ...children.slice(1)])).status).toBe(201);
});

function toBlobPath({ path }: LayoutRegistryStore, content: string): string {
  return join(path, 'blobs', sha256(content).replace(':', '/'));
}
