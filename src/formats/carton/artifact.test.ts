import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sourceOf, withManifest } from '../../../test/support/carton-files.js';
import { MemoryCarton, membersOf, noop, richPackage, writeOptions, writeToMemory } from '../../../test/support/carton-write.js';
import { part } from '../../../test/support/parts.js';
import { collect, createZip, openZip } from '../../bytes/index.js';
import { type BlobSink, defaultLimits, type Descriptor, emptyDescription, type OciSource } from '../../core/index.js';
import { createMemoryStore } from '../../store/index.js';
import { writeCartonArtifact, writeCartonZip } from './artifact.js';
import { openMembers } from './open-members.js';
import { sharedMemberBytes } from './spec.js';
import { verifyCarton } from './verify.js';
import { writeCarton } from './write.js';

const big = 'x'.repeat(sharedMemberBytes);
const withBig = () => {
  const pkg = richPackage();
  return { ...pkg, parts: [...pkg.parts, part('z/big', 'weights', big), part('big', 'weights', `${big}2`)] };
};

interface Manifest {
  readonly artifactType: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations: Readonly<Record<string, string>>;
}

async function open(store: ReturnType<typeof createMemoryStore>, root: Descriptor): Promise<OciSource & { readonly manifest: Manifest }> {
  const bytes = await collect(await store.open(root), 1e7, 'the manifest');
  return { kind: 'oci', location: 'test', root, bytes, blobs: store, manifest: JSON.parse(Buffer.from(bytes).toString()) as Manifest };
}

async function toArtifact(carton: MemoryCarton, store = createMemoryStore()) {
  const written = await writeCartonArtifact(await membersOf(carton.source), store, writeOptions);
  return { ...written, source: await open(store, written.root) };
}

describe('writeCartonArtifact', () => {
  it('keeps members and model hash: small ones in one tar, the others raw and titled', async () => {
    const { carton, modelHash } = await writeToMemory(withBig(), {}, noop);
    const { source, modelHash: same, root } = await toArtifact(carton);
    expect(same).toBe(modelHash);
    expect(root.artifactType).toBe('application/vnd.modelport.carton.v1');
    const { layers, config, annotations } = source.manifest;
    expect(layers.map(({ mediaType, annotations: said }) => said?.['org.opencontainers.image.title'] ?? mediaType)).toEqual([
      'model/big',
      'model/z/big',
      'application/vnd.modelport.carton.members.v1.tar',
    ]);
    expect(config).toMatchObject({ mediaType: 'application/vnd.oci.empty.v1+json', size: 2 });
    expect(annotations).toEqual({
      'org.opencontainers.image.title': 'demo',
      'org.opencontainers.image.description': 'A model, 🎉',
      'org.opencontainers.image.licenses': 'MIT AND (Apache-2.0 OR BSD-3-Clause)',
      'dev.modelport.carton.model-hash': modelHash,
    });
    expect((await verifyCarton(source, writeOptions)).problems).toEqual([]);
  });

  it('and back as a file it is the same, byte for byte', async () => {
    const { carton } = await writeToMemory(withBig(), {}, noop);
    const { source } = await toArtifact(carton);
    const back = new MemoryCarton();
    await writeCartonZip(await openMembers(source, { limits: defaultLimits }), back, writeOptions);
    expect(back.fingerprint).toBe(carton.fingerprint);
  });

  it('is what packing into a registry gives', async () => {
    const { carton, modelHash } = await writeToMemory(withBig(), {}, noop);
    const store = createMemoryStore();
    const direct = await writeCarton(withBig(), emptyDescription, { kind: 'oci', blobs: store }, { ...writeOptions, ...noop });
    expect(direct.modelHash).toBe(modelHash);
    expect(direct.root).toEqual((await toArtifact(carton)).root);
    expect(direct.members).toBe(carton.added.length);
  });

  it('gives the same digest however many layers are worked on at a time', async () => {
    const members = await membersOf((await writeToMemory(withBig(), {}, noop)).carton.source);
    const roots = await Promise.all([1, 8].map((concurrency) => writeCartonArtifact(members, createMemoryStore(), { ...writeOptions, concurrency })));
    expect(roots[0]?.root).toEqual(roots[1]?.root);
  });

  it('sends nothing twice', async () => {
    const { carton } = await writeToMemory(withBig(), {}, noop);
    const store = createMemoryStore();
    const { bytes: first } = await toArtifact(carton, store);
    const { bytes: second } = await toArtifact(carton, store);
    expect(first).toMatchObject({ skipped: 0 });
    expect(second).toEqual({ total: first.total, sent: 0, skipped: first.total });
  });

  it('writes links as copies, keeps LINKS, and a MANIFEST that is a layer by itself', async () => {
    const { MANIFEST, ...files } = withManifest(
      { ...cartonFiles(), 'model/link': { link: 'm' }, 'model/far': { link: 'away' } },
      { 'model/away': '' },
    );
    const LINKS = `version = 1\n\n[urls]\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 = [ "https://example.com" ]\n${'e'.repeat(64)} = [ "https://example.com/away" ]\n`;
    const long = `${MANIFEST}${Array.from({ length: 1000 }, (_, at) => `model/away${at}=${'e'.repeat(64)}\n`).join('')}`;
    const store = createMemoryStore();
    const { root } = await writeCartonArtifact(await membersOf(sourceOf({ ...files, MANIFEST: long, LINKS })), store, writeOptions);
    const source = await open(store, root);
    expect(source.manifest.layers[0]?.annotations).toEqual({ 'org.opencontainers.image.title': 'MANIFEST' });
    const { tree } = await openMembers(source, { limits: defaultLimits });
    expect(tree.entries.map(({ path }) => path)).toEqual(['LINKS', 'MANIFEST', 'carton.toml', 'model/link', 'model/m']);
    expect(Buffer.from(await collect(await tree.open('model/link'), 10, 'a link')).toString()).toBe('m');
    expect(Buffer.from(await collect(await tree.open('MANIFEST'), 1e6, 'MANIFEST')).toString()).toBe(long);
  });

  it('raises what shares the tar until the manifest fits', async () => {
    const layersOf = async (limits: Partial<typeof defaultLimits>) => {
      const store = createMemoryStore();
      const members = await membersOf((await writeToMemory(withBig(), {}, noop)).carton.source);
      const { root } = await writeCartonArtifact(members, store, { ...writeOptions, limits: { ...defaultLimits, ...limits } });
      return (await open(store, root)).manifest.layers.length;
    };
    expect(await layersOf({})).toBe(3);
    expect(await layersOf({ manifestLayers: 2 })).toBe(1);
    expect(await layersOf({ writtenManifestBytes: 1100 })).toBe(1);
    await expect(layersOf({ writtenManifestBytes: 100 })).rejects.toMatchObject({ code: 'oci/too-large' });
  });

  it.each([
    ['small', 'm', 'other'],
    ['large', big, `${big.slice(1)}y`],
  ])('refuses a %s member that MANIFEST contradicts', async (_, right, wrong) => {
    const files = { ...withManifest({ ...cartonFiles(), 'model/m': right }), 'model/m': wrong };
    const failing = async (blobs: BlobSink) => writeCartonArtifact(await membersOf(sourceOf(files)), blobs, writeOptions);
    await expect(failing(createMemoryStore())).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    await expect(writeCartonZip(await membersOf(sourceOf(files)), new MemoryCarton(), writeOptions)).rejects.toMatchObject({
      code: 'bytes/digest-mismatch',
    });
  });

  it('refuses what has no MANIFEST', async () => {
    await expect(writeCartonArtifact(await membersOf(sourceOf(cartonFiles())), createMemoryStore(), writeOptions)).rejects.toMatchObject({
      code: 'carton/cannot-write',
    });
  });
});

function cartonFiles() {
  return { 'carton.toml': 'spec_version = 1\n', 'model/m': 'm' };
}

describe('a zip on the disk', () => {
  it('is the same twice, and what was written is read', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'modelport-'));
    try {
      const files = [];
      for (const name of ['one.carton', 'two.carton']) {
        const zip = await createZip(join(folder, name));
        const sink = { kind: 'zip', add: (member) => zip.add(member) } satisfies Parameters<typeof writeCarton>[2];
        await writeCarton(withBig(), emptyDescription, sink, { ...writeOptions, ...noop, compression: 'zstd' });
        await zip.commit();
        await zip.close();
        files.push(readFileSync(join(folder, name)));
      }
      const [one = Buffer.alloc(0), two] = files;
      expect(two?.equals(one)).toBe(true);
      const tree = await openZip(
        {
          size: one.length,
          read: async (offset, length) => one.subarray(offset, offset + length),
          stream: async ({ start, end }) => [one.subarray(start, end)] as never,
        },
        { limits: defaultLimits, where: 'one.carton' },
      );
      expect((await verifyCarton({ kind: 'files', location: 'one.carton', tree }, writeOptions)).problems).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
