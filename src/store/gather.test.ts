import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeBytes } from '../../test/support/distant-blob.js';
import type { ByteStream } from '../core/index.js';
import { gather } from './gather.js';

const bytes = makeBytes(4_000_000);

/** A piece is spoilt as soon as the second next one is asked for. */
async function* spoiling(lengths: readonly number[], total: number): ByteStream {
  const out: Buffer[] = [];
  for (let at = 0, turn = 0; at < total; turn++) {
    const piece = Buffer.from(bytes.subarray(at, Math.min(total, at + lengths[turn % lengths.length]!)));
    out.push(piece);
    yield piece;
    out.at(-2)?.fill(0);
    at += piece.byteLength;
  }
}

/** Works on each chunk until the next one is there, as a pump does. */
async function collectLate(stream: ByteStream): Promise<{ bytes: Buffer; chunks: number }> {
  const parts: Buffer[] = [];
  let before: Uint8Array | undefined;
  for await (const chunk of stream) {
    if (before !== undefined) parts.push(Buffer.from(before));
    before = chunk;
  }
  if (before !== undefined) parts.push(Buffer.from(before));
  return { bytes: Buffer.concat(parts), chunks: parts.length };
}

describe('gather', () => {
  it('gives the same bytes, whatever pieces they come in', async () => {
    const length = fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 200_000, max: 900_000 }));
    const total = fc.integer({ min: 0, max: bytes.length });
    await fc.assert(
      fc.asyncProperty(fc.array(length, { minLength: 1, maxLength: 6 }), total, async (lengths, size) => {
        const { bytes: found } = await collectLate(gather(spoiling(lengths, size), size + 1));
        expect(found.equals(bytes.subarray(0, size))).toBe(true);
      }),
      { numRuns: 40 },
    );
  });

  it('puts small pieces together, and hands empty and large ones on', async () => {
    expect((await collectLate(gather(spoiling([1000], bytes.length), bytes.length))).chunks).toBeLessThan(10);
    const large = Buffer.alloc(300_000);
    const given = async function* () {
      yield large;
      yield new Uint8Array(0);
      yield large;
    };
    const chunks: Uint8Array[] = [];
    for await (const chunk of gather(given(), 900_000)) chunks.push(chunk);
    expect(chunks.map((chunk) => [chunk === large, chunk.byteLength])).toEqual([
      [true, 300_000],
      [false, 0],
      [true, 300_000],
      [false, 0],
    ]);
  });

  it('gives what came before the stream failed, then the failure', async () => {
    const failing = async function* () {
      yield bytes.subarray(0, 1000);
      yield bytes.subarray(1000, 3000);
      throw new Error('cut');
    };
    const found: Buffer[] = [];
    const reading = async () => {
      for await (const chunk of gather(failing(), 1_000_000)) found.push(Buffer.from(chunk));
    };
    await expect(reading()).rejects.toThrow('cut');
    expect(Buffer.concat(found).equals(bytes.subarray(0, 3000))).toBe(true);
  });

  it('closes the stream when nobody goes on reading', async () => {
    let isClosed = false;
    const endless = async function* () {
      try {
        for (;;) yield bytes.subarray(0, 100_000);
      } finally {
        isClosed = true;
      }
    };
    for await (const chunk of gather(endless(), Infinity)) {
      expect(chunk.byteLength).toBeGreaterThan(100_000);
      break;
    }
    expect(isClosed).toBe(true);
  });
});
