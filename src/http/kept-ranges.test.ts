import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeBytes } from '../../test/support/distant-blob.js';
import { KeptRanges } from './kept-ranges.js';

const size = 5000;
const bytes = makeBytes(size);

function bench(keptBytes: number, gapBytes: number) {
  const asked: [number, number][] = [];
  const fetch = async (start: number, end: number) => {
    asked.push([start, end]);
    return bytes.subarray(start, end);
  };
  return { asked, kept: new KeptRanges({ size, fetch, keptBytes, gapBytes }) };
}

describe('kept ranges', () => {
  it('give what is there, whatever was read before and at the same time', async () => {
    const read = fc.tuple(fc.nat(size), fc.nat(700)).map(([start, length]) => [start, Math.min(size, start + length)] as const);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(read, { maxLength: 4 }), { maxLength: 12 }),
        fc.nat(3000),
        fc.nat(300),
        async (turns, keptBytes, gapBytes) => {
          const { kept, asked } = bench(keptBytes, gapBytes);
          kept.keep(4800, bytes.subarray(4800));
          for (const turn of turns) {
            const found = await Promise.all(turn.map(([start, end]) => kept.read(start, end)));
            expect(found.map((each, at) => bytes.subarray(...(turn[at] ?? [])).equals(each)).every(Boolean)).toBe(true);
          }
          expect(asked.every(([start, end]) => start < end && end <= size)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('forget the least recently used', async () => {
    const { kept, asked } = bench(1000, 0);
    for (const start of [0, 1000, 2000, 3000]) await kept.read(start, start + 250);
    await kept.read(0, 250);
    await kept.read(4000, 4250);
    expect([0, 1000, 2000].map((start) => kept.has(start, start + 250))).toEqual([true, false, true]);
    expect(asked).toHaveLength(5);
    await kept.read(500, 900);
    expect(kept.has(500, 900)).toBe(false);
  });

  it('ask again for what failed', async () => {
    let turn = 0;
    const fetch = async (start: number, end: number) => {
      if (++turn === 1) throw new Error('gone');
      return bytes.subarray(start, end);
    };
    const kept = new KeptRanges({ size, fetch, keptBytes: 1000, gapBytes: 0 });
    const both = await Promise.allSettled([kept.read(0, 10), kept.read(5, 10)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(Buffer.from(await kept.read(0, 10))).toEqual(bytes.subarray(0, 10));
    expect(turn).toBe(2);
  });
});
