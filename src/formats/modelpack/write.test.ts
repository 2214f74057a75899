import { describe, expect, it } from 'vitest';
import { packageOf, part } from '../../../test/support/parts.js';
import { collect } from '../../bytes/index.js';
import { type ContentStore, defaultLimits, type Descriptor, type OciSource, silentProgress } from '../../core/index.js';
import { createMemoryStore } from '../../store/index.js';
import { read } from './read.js';
import { type Vintage, vintages } from './spec.js';
import { validate } from './validate.js';
import { type ModelpackWriteOptions, writeHybridImage, writeModelpack } from './write.js';

const model = packageOf(
  [
    part('model.safetensors', 'weights', 'weights'),
    part('README.md', 'doc'),
    part('bin/run.sh', 'code', '#!/bin/sh', { mode: 0o775, guessed: true }),
  ],
  {
    identity: { name: 'demo', licenses: ['Apache-2.0'], homepage: 'https://example.com', datasets: ['https://example.com/data'] },
    weights: { format: 'safetensors', paramSize: '1K' },
    capabilities: { reasoning: true },
  },
);

function options(vintage: Vintage, over: Partial<ModelpackWriteOptions> = {}): ModelpackWriteOptions {
  return {
    vintage,
    layers: { byRole: {} },
    mtime: 0,
    platform: 'linux/amd64',
    concurrency: 2,
    progress: silentProgress,
    limits: defaultLimits,
    ...over,
  };
}

async function open(store: ContentStore, root: Descriptor): Promise<OciSource> {
  return { kind: 'oci', location: 'test', root, bytes: await collect(await store.open(root), 1e7, 'the manifest'), blobs: store };
}

async function write(vintage: Vintage, pkg = model, over: Partial<ModelpackWriteOptions> = {}) {
  const store = createMemoryStore();
  const written = await writeModelpack(pkg, { kind: 'oci', blobs: store }, options(vintage, over));
  return { ...written, source: await open(store, written.root) };
}

describe.each(vintages)('writeModelpack as %s', (vintage) => {
  it('writes what its own rules find nothing wrong with', async () => {
    const { source } = await write(vintage);
    const findings = await validate(source, { limits: defaultLimits });
    expect(findings.filter((finding) => finding.level !== 'note')).toEqual([]);
  });

  it('is read back as it was', async () => {
    const { source } = await write(vintage);
    const pkg = await read(source, { limits: defaultLimits });
    const paths = pkg.parts.map(({ path, mode, size }) => ({ path, mode, size }));
    expect(paths.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
      { path: 'README.md', mode: 0o644, size: 9 },
      { path: 'bin/run.sh', mode: 0o755, size: 9 },
      { path: 'model.safetensors', mode: 0o644, size: 7 },
    ]);
    const { datasets, ...identity } = model.identity;
    expect(pkg.identity).toEqual(vintage === 'draft-2024' ? identity : { ...identity, datasets });
    expect(pkg.weights).toEqual(model.weights);
  });

  it('gives the same digest for the same parts in any order', async () => {
    const turned = packageOf(model.parts.toReversed(), model);
    const [a, b] = [await write(vintage), await write(vintage, { ...turned, parts: model.parts.toReversed() })];
    expect(a.root.digest).toBe(b.root.digest);
  });

  it.each(['../evil', '/etc/passwd', 'a//b', 'a\\b'])('refuses the path %j', async (path) => {
    await expect(write(vintage, packageOf([part(path)]))).rejects.toMatchObject({ code: 'bytes/unsafe-path' });
  });

  it.each([
    ['a', 'a'],
    ['a', 'a/b'],
    ['A.txt', 'a.txt'],
  ])('refuses %j beside %j', async (first, second) => {
    await expect(write(vintage, packageOf([part(first), part(second)]))).rejects.toMatchObject({
      code: 'bytes/unsafe-path',
      where: expect.any(String) as string,
    });
  });

  it('refuses an empty package', async () => {
    await expect(write(vintage, packageOf([]))).rejects.toMatchObject({ code: 'modelpack/cannot-write' });
  });
});

describe('writeModelpack', () => {
  it('says what a ModelPack has no place for', async () => {
    const { lost } = await write('cncf', { ...model, io: { inputs: [{ name: 'x' }], outputs: [], selfTests: 1, examples: 0 }, run: { timeout: 3 } });
    expect(lost.map((finding) => finding.message)).toEqual([
      expect.stringContaining('inputs and outputs') as string,
      expect.stringContaining('self tests') as string,
      expect.stringContaining('the run section') as string,
    ]);
  });

  it('refuses a manifest that registries need not take, before any blob is put', async () => {
    const blobs = { put: () => Promise.reject(new Error('nothing may be written')) };
    const many = packageOf(Array.from({ length: 50 }, (_, index) => part(`f${index}`)));
    const limits = { ...defaultLimits, writtenManifestBytes: 4000 };
    await expect(writeModelpack(many, { kind: 'oci', blobs }, options('cncf', { limits }))).rejects.toMatchObject({ code: 'oci/too-large' });
  });

  it('refuses names that mean deletion where layers are stacked, and only there', async () => {
    const pkg = packageOf([part('dir/.wh.x')]);
    await expect(write('draft-2024', pkg)).rejects.toMatchObject({ code: 'bytes/unsafe-path' });
    await expect(write('cncf', pkg)).resolves.toMatchObject({ lost: [] });
  });

  it('stamps the time that it is given', async () => {
    const { source } = await write('cncf', model, { mtime: 86_400 });
    const { parts } = await read(source, { limits: defaultLimits });
    expect(parts.map((each) => each.mtime)).toEqual([86_400, 86_400, 86_400]);
  });
});

describe('writeHybridImage', () => {
  it('writes an ordinary image with the files at the root and the keys of a ModelPack', async () => {
    const store = createMemoryStore();
    const { root } = await writeHybridImage(model, { kind: 'oci', blobs: store }, options('cncf'));
    const manifest = JSON.parse(Buffer.from((await open(store, root)).bytes).toString()) as {
      artifactType?: string;
      config: Descriptor;
      layers: Descriptor[];
    };
    expect(manifest.artifactType).toBeUndefined();
    expect(manifest.config.mediaType).toBe('application/vnd.oci.image.config.v1+json');
    expect(manifest.layers.map((layer) => [layer.mediaType, layer.annotations?.['org.cncf.model.filepath']])).toEqual([
      ['application/vnd.oci.image.layer.v1.tar', 'model.safetensors'],
      ['application/vnd.oci.image.layer.v1.tar', 'README.md'],
      ['application/vnd.oci.image.layer.v1.tar', 'bin/run.sh'],
    ]);
  });
});
