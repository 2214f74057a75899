import { describe, expect, it } from 'vitest';
import { digestOf, patternBytes, readAll, toFile, toStream } from '../../../test/support/client-bench.js';
import { type BlobContent, type ByteStream, createCounters } from '../../core/index.js';
import { OutgoingContent, toReach } from './outgoing-content.js';

const bytes = patternBytes(100_000);

const open = (content: BlobContent, hashes = true, counters = createCounters(), reach = toReach(undefined)) =>
  new OutgoingContent(content, bytes.length, hashes, counters, reach);

const read = (stream: ByteStream) => readAll(Promise.resolve(stream));

describe('outgoing content', () => {
  it.each([
    ['a file', () => toFile(bytes)],
    ['a stream', () => toStream(bytes, { chunkBytes: 7000 })],
    ['bytes', () => ({ kind: 'bytes' as const, bytes })],
  ])('of %s is hashed once, in whatever pieces and however often it is taken', async (_what, toContent) => {
    const counters = createCounters();
    const outgoing = open(toContent(), true, counters);
    for (const [offset, length] of [
      [0, 30_000],
      [30_000, 30_000],
      [10_000, 40_000],
      [50_000, 20_000],
      [0, 1],
      [70_000, 30_000],
    ] as const) {
      expect((await read(outgoing.take(offset, length))).equals(bytes.subarray(offset, offset + length))).toBe(true);
    }
    expect(await outgoing.finish()).toBe(digestOf(bytes));
    expect(await outgoing.finish()).toBe(digestOf(bytes));
    expect([counters.hashed, outgoing.length]).toEqual([bytes.length, bytes.length]);
    await outgoing.close();
  });

  it('is not hashed when nobody wants it', async () => {
    const counters = createCounters();
    const outgoing = open(toFile(bytes), false, counters);
    await read(outgoing.take(60_000, 40_000));
    expect(await outgoing.finish()).toBeUndefined();
    expect(counters).toMatchObject({ hashed: 0, read: 40_000 });
    await outgoing.close();
  });

  it('that an earlier run sent in part is hashed, and counted apart', async () => {
    const counters = createCounters();
    const outgoing = open(toStream(bytes), true, counters);
    await outgoing.pass(64_000);
    expect((await read(outgoing.take(64_000, 36_000))).equals(bytes.subarray(64_000))).toBe(true);
    expect(await outgoing.finish()).toBe(digestOf(bytes));
    expect(counters).toMatchObject({ hashed: bytes.length, resumed: 64_000 });
    await outgoing.close();
  });

  it('that was given up while its source was waited for is opened anew, and no byte is lost', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const slow: BlobContent = {
      kind: 'stream',
      size: bytes.length,
      open: async () =>
        (async function* (): ByteStream {
          for (let at = 0; at < bytes.length; at += 10_000) {
            if (at === 20_000) await gate;
            yield bytes.subarray(at, at + 10_000);
          }
        })(),
    };
    const counters = createCounters();
    const outgoing = open(slow, true, counters);
    const first = outgoing.take(0, bytes.length)[Symbol.asyncIterator]();
    await first.next();
    await first.next();
    const waiting = first.next();
    const given = first.return?.();
    const rest = read(outgoing.take(20_000, bytes.length - 20_000));
    release();
    expect((await rest).equals(bytes.subarray(20_000))).toBe(true);
    await Promise.all([waiting, given]);
    expect(await outgoing.finish()).toBe(digestOf(bytes));
    expect(counters.hashed).toBe(bytes.length);
    await outgoing.close();
  });

  it('moves the bar once for each byte', async () => {
    const steps: number[] = [];
    const outgoing = open(toFile(bytes), true, createCounters(), toReach({ advance: (count) => steps.push(count), done: () => {} }));
    await read(outgoing.take(0, 60_000));
    await read(outgoing.take(20_000, 60_000));
    await read(outgoing.take(0, bytes.length));
    expect(steps.every((count) => count > 0)).toBe(true);
    expect(steps.reduce((sum, count) => sum + count, 0)).toBe(bytes.length);
    await outgoing.close();
  });
});
