import { describe, expect, it } from 'vitest';
import { createClock, createPace } from './pace.js';

describe('a pace', () => {
  it('makes all who share it wait for so many bytes a second', async () => {
    const clock = { ms: 0 };
    const pauses: number[] = [];
    const pace = createPace(1000, { now: () => clock.ms, pause: async (ms) => pauses.push(ms) });
    await Promise.all([pace(500), pace(500)]);
    expect(pauses).toEqual([500, 1000]);
    clock.ms = 10_000;
    await pace(100);
    expect(pauses.at(-1)).toBe(100);
  });

  it('ends with the work', async () => {
    const abort = new AbortController();
    const waiting = createPace(1, createClock(abort.signal))(1_000_000);
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'core/cancelled' });
  });
});
