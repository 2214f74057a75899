import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pattern } from '../../../../test/support/http-bench.js';
import { GatheredBytes } from './gathered-bytes.js';

it('gives back what was added, however it is cut, and keeps two chunks as they are', () => {
  const bytes = pattern(2_000_000);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 30 }), (lengths) => {
      const gathered = new GatheredBytes();
      const out: Buffer[] = [];
      const held: Uint8Array[] = [];
      let at = 0;
      const take = () => {
        for (let chunk = gathered.take(); chunk !== undefined; chunk = gathered.take()) {
          // As late as it may be: the chunk before is read when this one has come.
          if (held.length === 1) out.push(Buffer.from(held.pop() as Uint8Array));
          held.push(chunk);
        }
      };
      for (const length of lengths) {
        gathered.add(bytes.subarray(at, at + length));
        at = Math.min(bytes.byteLength, at + length);
        if (gathered.isFull) take();
      }
      gathered.flush();
      take();
      if (held.length === 1) out.push(Buffer.from(held[0] as Uint8Array));
      gathered.end(true);
      expect(Buffer.concat(out).equals(bytes.subarray(0, at))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

it('lies in shared memory, in few buffers', () => {
  const gathered = new GatheredBytes();
  const buffers = new Set<ArrayBufferLike>();
  for (let turn = 0; turn < 100; turn++) {
    gathered.add(pattern(65_536).subarray(turn % 8));
    if (!gathered.isFull) continue;
    for (let chunk = gathered.take(); chunk !== undefined; chunk = gathered.take()) buffers.add(chunk.buffer);
  }
  gathered.end(true);
  expect(buffers.size).toBeLessThanOrEqual(5);
  expect([...buffers].every((buffer) => buffer instanceof SharedArrayBuffer)).toBe(true);
});
