import { describe, expect, it } from 'vitest';
import { packageOf, part } from '../../../test/support/parts.js';
import { collect } from '../../bytes/index.js';
import { type BlobSource, defaultLimits, type Descriptor, type OciSource, silentProgress } from '../../core/index.js';
import { createMemoryStore } from '../../store/index.js';
import { canRestamp, judgeRestamp, listLayers, restamp } from './restamp.js';
import type { Vintage } from './spec.js';
import { writeModelpack } from './write.js';

async function packed(vintage: Vintage) {
  const store = createMemoryStore();
  const pkg = packageOf([part('m.safetensors', 'weights'), part('README.md', 'doc')], { identity: { name: 'demo' } });
  const { root } = await writeModelpack(
    pkg,
    { kind: 'oci', blobs: store },
    { vintage, layers: { byRole: {} }, mtime: 0, platform: 'linux/amd64', concurrency: 1, progress: silentProgress, limits: defaultLimits },
  );
  return { store, source: await open(store, root) };
}

async function open(blobs: BlobSource, root: Descriptor): Promise<OciSource> {
  return { kind: 'oci', location: 'test', root, bytes: await collect(await blobs.open(root), 1e6, 'the manifest'), blobs };
}

const digestsOf = (source: OciSource) => listLayers(source, defaultLimits).map((layer) => layer.digest);

describe('restamp', () => {
  it('comes back to the very same package', async () => {
    const { store, source } = await packed('cncf');
    const there = await open(store, await restamp(source, 'cnai', store, defaultLimits));
    const back = await restamp(there, 'cncf', store, defaultLimits);
    expect(there.root.digest).not.toBe(source.root.digest);
    expect(back.digest).toBe(source.root.digest);
  });

  it('keeps every layer, and opens none', async () => {
    const { store, source } = await packed('cnai');
    const layers = new Set<string>(digestsOf(source));
    const watched: BlobSource = {
      ...store,
      open: (descriptor, range) => (layers.has(descriptor.digest) ? Promise.reject(new Error('a layer was opened')) : store.open(descriptor, range)),
    };
    const there = await open(store, await restamp({ ...source, blobs: watched }, 'cncf', store, defaultLimits));
    expect(digestsOf(there)).toEqual([...layers]);
    expect(there.root.artifactType).toBe('application/vnd.cncf.model.manifest.v1+json');
  });

  it('says beforehand that raw layers keep the ending of their time', async () => {
    const { store, source } = await packed('cncf');
    expect(judgeRestamp(source, 'cnai', defaultLimits)).toEqual([expect.objectContaining({ code: 'modelpack/raw-in-cnai', level: 'warning' })]);
    expect(judgeRestamp(source, 'cncf', defaultLimits)).toEqual([]);
    const there = await open(store, await restamp(source, 'cnai', store, defaultLimits));
    expect(Buffer.from(there.bytes).toString()).toContain('application/vnd.cnai.model.weight.v1.raw');
  });

  it('is for cncf and cnai only', async () => {
    const { source } = await packed('draft-2024');
    expect(canRestamp(source, 'cncf', defaultLimits)).toBe(false);
    expect(canRestamp((await packed('cncf')).source, 'draft-2024', defaultLimits)).toBe(false);
    expect(canRestamp((await packed('cncf')).source, 'cnai', defaultLimits)).toBe(true);
  });
});
