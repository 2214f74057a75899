import { createHash } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { createStreamHash } from './stream-hash.js';

const MiB = 1024 * 1024;

describe('a hash beside', () => {
  it('of pieces that are not shared, of any length and several at a time', async () => {
    const pieces = [5, MiB, 0, 17, 3 * MiB, MiB - 1, 64].map((length, at) => Buffer.alloc(length, at + 1));
    const whole = createHash('sha256');
    const hash = createStreamHash('sha256', 100 * MiB);
    for (const [at, piece] of pieces.entries()) {
      whole.update(piece).update(piece);
      const both = [hash.update(piece), hash.update(piece)];
      if (at % 2 === 0) await Promise.all(both);
      else await both[1];
    }
    expect(await hash.digest()).toBe(whole.digest('hex'));
  });

  it('takes shared memory once for pieces that come one after the other', async () => {
    const made: number[] = [];
    class Counted extends SharedArrayBuffer {
      constructor(bytes: number) {
        super(bytes);
        made.push(bytes);
      }
    }
    vi.stubGlobal('SharedArrayBuffer', Counted);
    try {
      const hash = createStreamHash('sha256', 100 * MiB);
      for (let count = 0; count < 50; count++) await hash.update(Buffer.alloc(64 * 1024 - count));
      hash.drop();
      expect(made).toEqual([64 * 1024]);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
