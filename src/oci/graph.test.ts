import { describe, expect, it } from 'vitest';
import { collect, digestOf, fromBytes, openContent, verified } from '../bytes/index.js';
import { type BlobSink, type BlobSource, createError, defaultLimits, type Descriptor, type Digest, silentProgress } from '../core/index.js';
import { copyGraph } from './copy-graph.js';
import { emptyDescriptor, emptyJson } from './descriptor.js';
import { type ManifestNode, walkGraph } from './graph.js';
import { mediaTypes } from './media-types.js';
import { serialize } from './serialize.js';
import { verifyGraph } from './verify-graph.js';

/** Blobs in a map, and the order in which they came. */
class Blobs implements BlobSource, BlobSink {
  readonly map = new Map<Digest, Uint8Array>();
  readonly order: Digest[] = [];
  opened = 0;
  puts = 0;

  async has({ digest }: Descriptor) {
    return this.map.has(digest);
  }

  async open(descriptor: Descriptor) {
    this.opened += 1;
    const bytes = this.map.get(descriptor.digest);
    if (bytes === undefined) throw createError('store/blob-missing', { message: `Cannot read ${descriptor.digest}` });
    return verified(fromBytes(bytes), descriptor, descriptor.digest);
  }

  async put(content: Parameters<BlobSink['put']>[0], { expected }: Parameters<BlobSink['put']>[1] = {}) {
    if (expected === undefined) throw new Error('not used here');
    if (this.map.has(expected.digest)) return { ...expected, fresh: false };
    this.puts += 1;
    this.add(await collect(verified(openContent(content), expected, expected.digest), 1000, 'a blob'), '');
    return { ...expected, fresh: true };
  }

  add(bytes: Uint8Array, mediaType: string, extra: Partial<Descriptor> = {}): Descriptor {
    const digest = digestOf(bytes);
    this.map.set(digest, bytes);
    this.order.push(digest);
    return { mediaType, digest, size: bytes.byteLength, ...extra };
  }

  addManifest(layers: readonly Descriptor[], mediaType: string = mediaTypes.manifest, extra: object = {}): Descriptor {
    this.add(emptyJson, mediaTypes.empty);
    return this.add(serialize({ schemaVersion: 2, mediaType, config: emptyDescriptor, layers, ...extra }, mediaType).bytes, mediaType);
  }

  addIndex(manifests: readonly Descriptor[]): Descriptor {
    return this.add(serialize({ schemaVersion: 2, mediaType: mediaTypes.index, manifests }, mediaTypes.index).bytes, mediaTypes.index);
  }
}

function layer(blobs: Blobs, text: string, path?: string): Descriptor {
  return blobs.add(
    Buffer.from(text),
    'application/octet-stream',
    path === undefined ? {} : { annotations: { [`org.opencontainers.image.title`]: path } },
  );
}

async function walk(root: Descriptor, blobs: Blobs, limits = defaultLimits): Promise<ManifestNode[]> {
  const nodes: ManifestNode[] = [];
  for await (const node of walkGraph(root, blobs, { limits })) nodes.push(node);
  return nodes;
}

const options = { limits: defaultLimits, progress: silentProgress, concurrency: 3 };

describe('walkGraph', () => {
  it('visits each manifest and each blob once, also through nested indexes', async () => {
    const blobs = new Blobs();
    const shared = layer(blobs, 'shared', 'shared.bin');
    const first = blobs.addManifest([shared, layer(blobs, 'one')]);
    const second = blobs.addManifest([shared]);
    const root = blobs.addIndex([first, blobs.addIndex([second, first])]);
    const nodes = await walk(root, blobs);
    expect(nodes.map(({ depth, leaves }) => [depth, leaves.map(({ label }) => label)])).toEqual([
      [0, []],
      [1, ['config', 'layers[0] "shared.bin"', 'layers[1]']],
      [1, []],
      [2, []],
    ]);
  });

  it('sees by its content that an index entry of an unknown type is a manifest, or is none', async () => {
    const blobs = new Blobs();
    const draft = blobs.addManifest([layer(blobs, 'w')], 'application/vnd.cnai.model.manifest.v1+json');
    const other = blobs.add(Buffer.from('{"just":"json"}'), 'application/vnd.other+json');
    const nodes = await walk(blobs.addIndex([draft, other]), blobs);
    expect(nodes.map(({ leaves }) => leaves.length)).toEqual([1, 2]);
  });

  it('judges one digest with two sizes twice', async () => {
    const blobs = new Blobs();
    const blob = layer(blobs, 'bytes');
    const nodes = await walk(blobs.addManifest([blob, { ...blob, size: 4 }]), blobs);
    expect(nodes[0]?.leaves).toHaveLength(3);
  });

  it('refuses nesting and numbers beyond the limits', async () => {
    const blobs = new Blobs();
    let root = blobs.addManifest([]);
    for (let depth = 0; depth < 3; depth++) root = blobs.addIndex([root]);
    await expect(walk(root, blobs, { ...defaultLimits, indexDepth: 2 })).rejects.toMatchObject({ code: 'bytes/limit' });
    await expect(walk(root, blobs, { ...defaultLimits, graphNodes: 3 })).rejects.toMatchObject({ code: 'bytes/limit' });
    await expect(walk(root, blobs)).resolves.toHaveLength(4);
  });

  it('refuses a manifest that was promised as an index', async () => {
    const blobs = new Blobs();
    const root = blobs.addManifest([], 'application/x');
    await expect(walk({ ...root, mediaType: mediaTypes.index }, blobs)).rejects.toMatchObject({ code: 'oci/bad-manifest' });
  });
});

describe('copyGraph', () => {
  it('copies children before parents, byte for byte, and nothing a second time', async () => {
    const source = new Blobs();
    const root = source.addIndex([source.addManifest([layer(source, 'one'), layer(source, 'two')])]);
    const sink = new Blobs();
    const total = [...source.map.values()].reduce((sum, bytes) => sum + bytes.byteLength, 0);
    expect(await copyGraph(root, source, sink, options)).toEqual({ total, sent: total, skipped: 0 });
    expect(sink.order.at(-1)).toBe(root.digest);
    expect([...sink.map.keys()].toSorted()).toEqual([...source.map.keys()].toSorted());
    expect([...sink.map].every(([digest, bytes]) => digestOf(bytes) === digest)).toBe(true);
    source.opened = 0;
    expect(await copyGraph(root, source, sink, options)).toEqual({ total, sent: 0, skipped: total });
    expect(source.opened).toBe(2);
  });

  it('says which blob could not be copied, and copies no parent of it', async () => {
    const source = new Blobs();
    const bad = layer(source, 'weights', 'w.bin');
    const root = source.addManifest([bad]);
    source.map.set(bad.digest, Buffer.from('wEights'));
    const sink = new Blobs();
    await expect(copyGraph(root, source, sink, options)).rejects.toMatchObject({
      code: 'bytes/digest-mismatch',
      message: expect.stringContaining('layers[0] "w.bin"'),
    });
    expect(sink.map.has(root.digest)).toBe(false);
    // The config, and the bad layer twice: it may have become bad on the way, but not for ever.
    expect(sink.puts).toBe(3);
  });

  it('stops when it is cancelled', async () => {
    const source = new Blobs();
    const root = source.addManifest([layer(source, 'one')]);
    await expect(copyGraph(root, source, new Blobs(), { ...options, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'core/cancelled' });
  });
});

describe('verifyGraph', () => {
  it('counts what it read', async () => {
    const blobs = new Blobs();
    const root = blobs.addManifest([layer(blobs, 'one'), layer(blobs, 'two')]);
    const bytes = [...blobs.map.values()].reduce((sum, blob) => sum + blob.byteLength, 0);
    expect(await verifyGraph(root, blobs, options)).toEqual({ blobs: 4, bytes, problems: [] });
  });

  it('goes on after a problem and names every one', async () => {
    const blobs = new Blobs();
    const [first, second, third] = [layer(blobs, 'one', 'a.bin'), layer(blobs, 'two', 'b.bin'), layer(blobs, 'three', 'c.bin')];
    const lost = blobs.addManifest([first]);
    const root = blobs.addIndex([lost, blobs.addManifest([first, second, third])]);
    blobs.map.set(first.digest, Buffer.from('One'));
    blobs.map.set(second.digest, Buffer.from('two and more'));
    blobs.map.delete(lost.digest);
    const { problems } = await verifyGraph(root, blobs, options);
    expect(problems.map(({ code, message, where }) => [code, message.split(':')[0], where])).toEqual([
      ['store/blob-missing', 'manifest 1 of the index', lost.digest],
      ['bytes/digest-mismatch', 'layers[0] "a.bin"', first.digest],
      ['bytes/size-mismatch', 'layers[1] "b.bin"', second.digest],
    ]);
  });

  it('lets a further check look at the same bytes', async () => {
    const blobs = new Blobs();
    const root = blobs.addManifest([layer(blobs, 'one')]);
    const check = async (leaf: { label: string }, _parent: ManifestNode, stream: AsyncIterable<Uint8Array>) => {
      let size = 0;
      for await (const chunk of stream) size += chunk.byteLength;
      return [{ level: 'note' as const, code: 'test/seen', message: `${leaf.label} ${size}` }];
    };
    const { problems } = await verifyGraph(root, blobs, { ...options, check });
    expect(problems.map(({ message }) => message)).toEqual(['config 2', 'layers[0] 3']);
  });
});
