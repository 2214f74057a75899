import { describe, expect, it } from 'vitest';
import { pattern } from '../../../test/support/http-bench.js';
import { BodyQueue } from './body-queue.js';

const bufferBytes = 256 * 1024;

/** Receives as a socket does: at most `atOnce` bytes at a time, until the queue has enough. Gives the position after it. */
function receive(queue: BodyQueue, bytes: Buffer, from: number, atOnce: number): number {
  for (let position = from; position < bytes.byteLength;) {
    const room = queue.room();
    const piece = bytes.subarray(position, position + Math.min(room.byteLength, atOnce));
    room.set(piece);
    position += piece.byteLength;
    if (!queue.take(piece.byteLength)) return position;
  }
  return bytes.byteLength;
}

describe('BodyQueue', () => {
  it.each([1, 1000, bufferBytes, bufferBytes + 1, 5 * bufferBytes, 5 * bufferBytes + 17])('passes %i bytes on', async (length) => {
    const bytes = pattern(length);
    let position = 0;
    const queue: BodyQueue = new BodyQueue(length, () => (position = receive(queue, bytes, position, 60_000)));
    position = receive(queue, bytes, 0, 60_000);
    const chunks: Buffer[] = [];
    for await (const chunk of queue.read()) chunks.push(Buffer.from(chunk));
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    expect(chunks.at(-1)).toHaveLength(0);
    expect(chunks).toHaveLength(Math.ceil(length / bufferBytes) + 1);
    expect(queue.left).toBe(0);
  });

  it('keeps a chunk as it is until the second next one is asked for', async () => {
    const bytes = pattern(20 * bufferBytes);
    let position = 0;
    const queue: BodyQueue = new BodyQueue(bytes.byteLength, () => (position = receive(queue, bytes, position, 100_000)));
    position = receive(queue, bytes, 0, 100_000);
    const iterator = queue.read()[Symbol.asyncIterator]();
    const seen = new Set<ArrayBufferLike>();
    let previous: Uint8Array | undefined;
    let at = 0;
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
      if (previous !== undefined) expect(bytes.subarray(at - previous.byteLength, at).equals(previous)).toBe(true);
      expect(bytes.subarray(at, at + step.value.byteLength).equals(step.value)).toBe(true);
      previous = step.value;
      at += previous.byteLength;
      if (previous.byteLength > 0) seen.add(previous.buffer);
    }
    expect(at).toBe(bytes.byteLength);
    // Two with the reader, two that wait, one that is filled.
    expect(seen.size).toBeLessThanOrEqual(5);
    expect([...seen].every((buffer) => buffer instanceof SharedArrayBuffer)).toBe(true);
  });

  it('says when it has enough, and loses nothing that comes all the same', async () => {
    const bytes = pattern(6 * bufferBytes);
    const queue = new BodyQueue(bytes.byteLength, () => {});
    const position = receive(queue, bytes, 0, 64_000);
    expect(position).toBe(2 * bufferBytes);
    for (let at = position; at < bytes.byteLength;) at = receive(queue, bytes, at, 64_000);
    const chunks: Buffer[] = [];
    for await (const chunk of queue.read()) chunks.push(Buffer.from(chunk));
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
  });

  it('gives what has come before it fails', async () => {
    const queue = new BodyQueue(1000, () => {});
    receive(queue, pattern(300), 0, 300);
    const failure = new Error('gone');
    queue.fail(failure);
    queue.fail(new Error('again'));
    const iterator = queue.read()[Symbol.asyncIterator]();
    expect(pattern(300).equals((await iterator.next()).value as Uint8Array)).toBe(true);
    await expect(iterator.next()).rejects.toBe(failure);
  });

  it('ends at once without a body', async () => {
    expect((await new BodyQueue(0, () => {}).read()[Symbol.asyncIterator]().next()).done).toBe(true);
  });
});
