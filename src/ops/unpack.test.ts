import { readdirSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeBytes } from '../../test/support/distant-blob.js';
import { createWorkbench, type FileMap, readTree, toTree, type Workbench } from '../../test/support/workbench.js';
import { type ByteStream, createCounters, createError, type Descriptor } from '../core/index.js';
import { pack, unpack } from './index.js';
import { openSource, type ShelfSource } from './source.js';
import { unpackOpened } from './unpack.js';

const files: FileMap = { 'model.safetensors.bin': makeBytes(3_000_000), 'other.bin': makeBytes(2_000_000, 'other'), 'README.md': '# Tiny\n' };

let bench: Workbench;
beforeEach(async () => {
  bench = createWorkbench();
  await pack({ dir: bench.write('model', files), format: 'modelpack', name: 'demo/tiny:v1' }, bench.context());
});
afterEach(() => bench.close());

/** The package as a registry has it. The line breaks in the midst of its largest blob as long as `isBad` says so. */
async function openDistant(isBad: () => boolean): Promise<ShelfSource> {
  const source = (await openSource('demo/tiny:v1', bench.context())) as ShelfSource;
  async function* breaking(stream: ByteStream): ByteStream {
    for await (const chunk of stream) {
      yield chunk.subarray(0, 500_000);
      throw createError('registry/interrupted', { message: 'Cannot fetch the blob: the connection broke' });
    }
  }
  const open: ShelfSource['blobs']['open'] = async (descriptor: Descriptor, range) => {
    const stream = await source.blobs.open(descriptor, range);
    return descriptor.size === 3_000_000 && isBad() ? breaking(stream) : stream;
  };
  return { ...source, from: 'registry', blobs: { has: (descriptor) => source.blobs.has(descriptor), open } };
}

describe('unpack from a registry', () => {
  it('goes on where it broke off', async () => {
    let isBad = true;
    const source = await openDistant(() => isBad);
    const options = { location: 'demo/tiny:v1', output: bench.path('out/target') };
    await expect(unpackOpened(source, options, bench.context({ concurrency: 1 }))).rejects.toMatchObject({
      code: 'registry/interrupted',
      hint: expect.stringMatching(/\.part"; the same command goes on/),
    });
    expect(readdirSync(bench.path('out'))).toEqual([expect.stringMatching(/^\.modelport-.*\.part$/)]);
    isBad = false;
    const counters = createCounters();
    const result = await unpackOpened(source, options, bench.context({ counters }));
    expect(result).toMatchObject({ files: 3, digest: source.root.digest });
    expect(counters.resumed).toBeGreaterThanOrEqual(500_000);
    expect(readTree(bench.path('out/target'))).toEqual(toTree(files));
    expect(readdirSync(bench.path('out'))).toEqual(['target']);
  });
});

describe('unpack from the store', () => {
  it('begins anew every time, and leaves nothing when it fails', async () => {
    const source = await openDistant(() => true);
    await expect(
      unpackOpened({ ...source, from: 'store' }, { location: 'x', output: bench.path('out/target') }, bench.context()),
    ).rejects.toMatchObject({ code: 'registry/interrupted' });
    expect(readdirSync(bench.path('out'))).toEqual([]);
    await unpack({ location: 'demo/tiny:v1', output: bench.path('out/target') }, bench.context());
    expect(statSync(bench.path('out/target/model.safetensors.bin')).size).toBe(3_000_000);
  });
});
