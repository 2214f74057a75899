import { describe, expect, it } from 'vitest';
import { createBench, descriptorOf, makeManifest, patternBytes, readAll, startBench, startRegistry } from '../../../test/support/client-bench.js';
import { startTestRegistry } from '../../../test/support/registry/test-registry.js';
import { storeSuite } from '../../../test/suites/store-suite.js';
import { type ContentStore, createError, defaultLimits, type Descriptor, type Digest, isToolkitError } from '../../core/index.js';
import { mediaTypes } from '../../oci/index.js';
import type { RemoteRepository } from './repository.js';

const manifestType = mediaTypes.manifest;
const bytes = patternBytes(50_000);
const layer = descriptorOf(bytes);

/** The suite names blobs, in words that are no tags; a registry names manifests. What it lacks it calls by other codes. */
class SuiteStore implements ContentStore {
  constructor(private readonly repository: RemoteRepository) {}

  has: ContentStore['has'] = (descriptor) => this.repository.has(descriptor);
  put: ContentStore['put'] = (content, options) => this.repository.put(content, options);
  open: ContentStore['open'] = async (descriptor, range) => renamed(this.repository.open(descriptor, range));

  async tag(name: string, descriptor: Descriptor): Promise<void> {
    if (!(await this.repository.has(descriptor))) throw createError('store/blob-missing', { message: 'Cannot tag what is not there' });
    const manifest = await this.repository.put({ kind: 'bytes', bytes: makeManifest(descriptor) }, { mediaType: manifestType });
    await this.repository.tag(toTag(name), { ...manifest, mediaType: manifestType });
  }

  resolve = async (name: string): Promise<Descriptor | undefined> => {
    const manifest = await this.repository.resolve(toTag(name));
    return manifest === undefined ? undefined : this.#layerOf(manifest);
  };

  list = async () =>
    Promise.all(
      (await this.repository.list()).map(async ({ name = '', descriptor }) => ({ name: fromTag(name), descriptor: await this.#layerOf(descriptor) })),
    );

  async #layerOf(manifest: Descriptor): Promise<Descriptor> {
    const { layers } = JSON.parse((await readAll(this.repository.open(manifest))).toString()) as { layers: [Descriptor] };
    return layers[0];
  }
}

const toTag = (name: string) => name.replaceAll('/', '.-.').replaceAll(':', '.--.');
const fromTag = (tag: string) => tag.replaceAll('.--.', ':').replaceAll('.-.', '/');

async function renamed<T extends AsyncIterable<Uint8Array>>(opened: Promise<T>) {
  const stream = await opened;
  return (async function* () {
    try {
      yield* stream;
    } catch (error) {
      if (isToolkitError(error, 'registry/not-found')) throw createError('store/blob-missing', { message: error.message });
      throw error;
    }
  })();
}

for (const [title, behaviour] of [
  ['a registry', {}],
  ['a registry without uploads in pieces', { chunked: 'refuse-416' }],
  ['a registry with odd addresses', { relativeLocation: true, locationWithQuery: true, emptyRange: 'absent', acceptsMount: false }],
] as const) {
  storeSuite(title, async () => {
    const registry = await startTestRegistry({ behaviour });
    registry.putBlob('demo/model', 'so that the repository is there');
    const { open, client } = createBench(registry.host, { quirks: { chunkBytes: 8 } });
    const close = async () => {
      client.close();
      await registry.close();
    };
    return { store: new SuiteStore(open()), close };
  });
}

describe('manifests of a repository', () => {
  const start = async () => {
    const bench = await startBench();
    bench.registry.putBlob('demo/model', bytes);
    const manifest = makeManifest(layer);
    const repository = bench.open();
    const stored = await repository.put({ kind: 'bytes', bytes: manifest }, { mediaType: manifestType });
    return { ...bench, manifest, repository, descriptor: { ...stored, mediaType: manifestType } };
  };

  it('are read whole, and in part without being held against their digest', async () => {
    const { open, manifest, descriptor } = await start();
    expect((await readAll(open().open(descriptor))).equals(manifest)).toBe(true);
    expect((await readAll(open().open(descriptor, { start: 5, end: 9 }))).equals(manifest.subarray(5, 9))).toBe(true);
    expect((await readAll(open().open(descriptor, { start: 5 }))).equals(manifest.subarray(5))).toBe(true);
    await expect(readAll(open().open({ ...descriptor, size: 3 }))).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
  });

  it('are not sent, tagged or fetched twice', async () => {
    const { repository, registry, manifest, descriptor } = await start();
    expect(await repository.put({ kind: 'bytes', bytes: manifest }, { mediaType: manifestType })).toMatchObject({ fresh: false });
    await repository.tag('v1', descriptor);
    await repository.tag('v1', descriptor);
    expect(registry.count('PUT', '/manifests/')).toBe(2);
    expect(await repository.findDigest('v1')).toBe(descriptor.digest);
    expect(await repository.findBlob(descriptor.digest)).toMatchObject({ digest: descriptor.digest });
    expect(registry.count('GET', '/manifests/')).toBe(0);
    expect(await repository.resolve('v1')).toMatchObject({ digest: descriptor.digest, artifactType: 'application/vnd.test.model' });
  });

  it('go away by tag or by digest', async () => {
    const { repository, registry, descriptor } = await start();
    await repository.tag('v1', descriptor);
    registry.behaviour.deletes = false;
    await expect(repository.remove('v1')).rejects.toMatchObject({ code: 'registry/unsupported' });
    expect(registry.findManifest('demo/model', 'v1')?.digest).toBe(descriptor.digest);
    registry.behaviour.deletes = true;
    expect(await repository.remove('v1')).toBe(true);
    expect(await repository.remove('v1')).toBe(false);
    expect(await repository.remove(descriptor.digest)).toBe(true);
  });

  it('go away alone where only digests are deleted, or stay where they were', async () => {
    const { repository, registry, descriptor } = await start();
    registry.behaviour.deletes = 'by-digest';
    for (const tag of ['v1', 'v2']) await repository.tag(tag, descriptor);
    registry.behaviour.failStatus = ({ method }) => (method === 'DELETE' && registry.count('DELETE') === 3 ? 403 : undefined);
    await expect(repository.remove('v1')).rejects.toMatchObject({ code: 'registry/denied' });
    expect(registry.findManifest('demo/model', 'v1')?.digest).toBe(descriptor.digest);
    registry.behaviour.failStatus = undefined;
    expect(await repository.remove('v1')).toBe(true);
    expect([registry.findManifest('demo/model', 'v1'), registry.findManifest('demo/model', 'v2')?.digest]).toEqual([undefined, descriptor.digest]);
    expect(await repository.remove('v1')).toBe(false);
  });
});

describe('lists of tags', () => {
  it('go over all pages', async () => {
    const { registry, open } = await startBench({ tagsPageSize: 3 });
    const tags = Array.from({ length: 10 }, (_, index) => `v${index}`);
    for (const tag of tags) registry.putManifest('demo/model', tag, makeManifest(layer));
    registry.putManifest('demo/model', `sha256-${'a'.repeat(64)}`, makeManifest(layer));
    expect((await open().list()).map(({ name }) => name)).toEqual(tags);
    expect(registry.count('GET', '/tags/list')).toBe(4);
  });

  it('are not held without limit', async () => {
    const { registry, open } = await startBench({}, { limits: { ...defaultLimits, graphNodes: 1 } });
    for (const tag of ['v1', 'v2']) registry.putManifest('demo/model', tag, makeManifest(layer));
    await expect(open().list()).rejects.toMatchObject({ code: 'bytes/limit' });
  });

  it('of a repository that is not there are said to be so', async () => {
    const { open } = await startBench();
    await expect(open('not/there').list()).rejects.toMatchObject({
      code: 'registry/not-found',
      message: expect.stringContaining('NAME_UNKNOWN') as string,
    });
  });
});

describe('names', () => {
  const odd = ['../../etc', 'a/../b', 'A', 'a//b', 'a?x=1', 'a#b', '%2e%2e', 'a:b', '', 'a\r\nb', `${'a'.repeat(254)}/b`];

  it.each(odd)('%j is no repository, and no request goes out', async (name) => {
    const { registry, open } = await startBench();
    const repository = open(name);
    for (const attempt of [
      repository.resolve('v1'),
      repository.has(layer),
      readAll(repository.open(layer)),
      repository.put({ kind: 'bytes', bytes }),
    ]) {
      await expect(attempt).rejects.toMatchObject({ code: 'core/bad-reference' });
    }
    expect(registry.log).toEqual([]);
  });

  it.each(['../x', 'a/b', '', '-a', 'a b', 'a?b', 'x'.repeat(129), '\u001b[31m'])('%j is no tag', async (tag) => {
    const { registry, open } = await startBench();
    await expect(open().resolve(tag)).rejects.toMatchObject({ code: 'core/bad-reference' });
    await expect(open().remove(tag)).rejects.toMatchObject({ code: 'core/bad-reference' });
    expect(registry.log).toEqual([]);
  });

  it.each(['sha256:../../etc/x', `sha256:${'A'.repeat(64)}`, 'sha256:abc', `sha256-${'a'.repeat(64)}`, `md5:${'a'.repeat(32)}`])(
    '%j is no digest',
    async (text) => {
      const { registry, open } = await startBench();
      const descriptor = { ...layer, digest: text as Digest };
      const bad = expect.objectContaining({ code: 'core/bad-digest' }) as unknown;
      await expect(open().has(descriptor)).rejects.toEqual(bad);
      await expect(readAll(open().open(descriptor))).rejects.toEqual(bad);
      await expect(open().listReferrers(text as Digest)).rejects.toEqual(bad);
      await expect(open().put({ kind: 'bytes', bytes }, { expected: descriptor })).rejects.toEqual(bad);
      expect(registry.log).toEqual([]);
    },
  );
});

describe('repositories of a registry', () => {
  it('are listed page by page', async () => {
    const registry = await startRegistry({ tagsPageSize: 2 });
    const names = ['a/one', 'a/two', 'b', 'c/d/e'];
    for (const name of names) registry.putBlob(name, 'x');
    const { client } = createBench(registry.host);
    const found: string[] = [];
    for await (const name of client.listRepositories(registry.host)) found.push(name);
    expect(found).toEqual(names);
  });

  it('answer a ping', async () => {
    const { client, registry } = await startBench();
    expect(await client.ping(registry.host)).toEqual({ asked: false });
  });

  it('get the namespace that their registry leaves out', async () => {
    const { open, registry } = await startBench({}, { quirks: { defaultNamespace: 'library' } });
    registry.putBlob('library/model', bytes);
    expect(await open('model').has(layer)).toBe(true);
    expect(await open('demo/model').has(layer)).toBe(false);
  });
});
