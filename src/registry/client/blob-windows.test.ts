import { describe, expect, it } from 'vitest';
import { descriptorOf, patternBytes, readAll, startBench } from '../../../test/support/client-bench.js';
import { makeSafetensors } from '../../../test/support/weight-files.js';
import { BlobWindows } from './blob-windows.js';

const KiB = 1024;
const MiB = KiB * KiB;

/** What was fetched, as `[start, end)`. */
const watch = (bytes: Uint8Array) => {
  const fetched: [number, number][] = [];
  const windows = new BlobWindows(async (_, start, end) => {
    fetched.push([start, end]);
    return bytes.subarray(start, end);
  });
  return { windows, fetched };
};

describe('small ranges of remote blobs', () => {
  it('cost one request for the header of each of 50 shards', async () => {
    const { registry, open, counters } = await startBench();
    const tensors = (shard: number) =>
      Object.fromEntries(
        Array.from({ length: 300 }, (_, index) => [
          `layer.${shard}.${index}`,
          { dtype: 'F32', shape: [1], data_offsets: [4 * index, 4 * index + 4] },
        ]),
      );
    const shards = Array.from({ length: 50 }, (_, shard) => Buffer.from(makeSafetensors(tensors(shard), 300_000)));
    for (const shard of shards) registry.putBlob('demo/model', shard);
    const repository = open();
    for (const shard of shards) {
      const blob = descriptorOf(shard);
      const length = Number((await readAll(repository.open(blob, { start: 0, end: 8 }))).readBigUInt64LE());
      expect((await readAll(repository.open(blob, { start: 8, end: 8 + length }))).equals(shard.subarray(8, 8 + length))).toBe(true);
    }
    expect(counters.requests).toBe(50);
    expect(Math.max(...registry.log.map(({ responseBytes }) => responseBytes))).toBeLessThanOrEqual(80 * KiB);
  });

  it('are long reads beside the windows', async () => {
    const bytes = patternBytes(3 * MiB);
    const { registry, open } = await startBench();
    registry.putBlob('demo/model', bytes);
    const range = { start: 5, end: 2 * MiB };
    expect((await readAll(open().open(descriptorOf(bytes), range))).equals(bytes.subarray(range.start, range.end))).toBe(true);
    expect(registry.log.map(({ range: asked }) => asked)).toEqual([`bytes=5-${2 * MiB - 1}`]);
  });

  it('grow for who reads on, and stay small for who jumps', async () => {
    const bytes = patternBytes(8 * MiB);
    const blob = descriptorOf(bytes);
    const { windows, fetched } = watch(bytes);
    for (let start = 0; start < 4 * MiB; start += 10_000) {
      expect(Buffer.from(await windows.read(blob, { start, end: start + 10_000 })).equals(bytes.subarray(start, start + 10_000))).toBe(true);
    }
    const lengths = fetched.map(([start, end]) => end - start);
    expect(lengths.slice(0, 6)).toEqual([80 * KiB, 160 * KiB, 320 * KiB, 640 * KiB, MiB, MiB]);
    fetched.length = 0;
    for (const start of [7 * MiB, 100, 6 * MiB]) await windows.read(blob, { start, end: start + 10 });
    expect(fetched.map(([start, end]) => end - start)).toEqual([16 * KiB, 16 * KiB, 16 * KiB]);
  });

  it('end where the blob does', async () => {
    const bytes = patternBytes(1000);
    const { windows, fetched } = watch(bytes);
    const blob = descriptorOf(bytes);
    expect((await windows.read(blob, { start: 990, end: 5000 })).byteLength).toBe(10);
    expect((await windows.read(blob, { start: 5000 })).byteLength).toBe(0);
    expect(fetched.every(([, end]) => end <= 1000)).toBe(true);
  });

  it('are kept while they are used, and not without limit', async () => {
    const bytes = patternBytes(1 * MiB);
    const { windows, fetched } = watch(bytes);
    const blobs = Array.from({ length: 20 }, (_, seed) => ({ ...descriptorOf(patternBytes(10, seed + 2)), size: bytes.length }));
    const [first, second] = blobs as [(typeof blobs)[0], (typeof blobs)[0]];
    for (const blob of blobs) {
      await windows.read(blob, { start: 0, end: bytes.length });
      await windows.read(first, { start: 0, end: 10 });
    }
    expect(fetched.length).toBe(blobs.length);
    await windows.read(second, { start: 0, end: 10 });
    expect(fetched.length).toBe(blobs.length + 1);
  });
});
