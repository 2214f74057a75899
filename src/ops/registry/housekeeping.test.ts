import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Finding } from '../../core/index.js';
import { startHousekeeping } from './housekeeping.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const told: Finding[] = [];
const announce = (findings: readonly Finding[]) => void told.push(...findings);

it('runs each chore in its own interval, and none at once', async () => {
  const runs: string[] = [];
  const chore = (purpose: string, everyMs: number) => ({ purpose, everyMs, run: async () => void runs.push(purpose) });
  const house = startHousekeeping([chore('a', 100), chore('b', 250)], announce);
  expect(runs).toEqual([]);
  await vi.advanceTimersByTimeAsync(260);
  expect(runs).toEqual(['a', 'a', 'b']);
  await house.stop();
  await vi.advanceTimersByTimeAsync(1000);
  expect(runs).toHaveLength(3);
});

it('goes on after a failure, and says it', async () => {
  let runs = 0;
  const run = () => Promise.reject(new Error(`the disk is full (${++runs})`));
  const house = startHousekeeping([{ purpose: 'clean up', everyMs: 10, run }], announce);
  await vi.advanceTimersByTimeAsync(25);
  await house.stop();
  expect(told.map(({ level, message }) => [level, message])).toEqual([
    ['warning', 'Cannot clean up, it is tried again: the disk is full (1)'],
    ['warning', 'Cannot clean up, it is tried again: the disk is full (2)'],
  ]);
});

it('never runs a chore twice at a time, and waits for it at the end', async () => {
  const ends: (() => void)[] = [];
  const run = () => new Promise<void>((resolve) => void ends.push(resolve));
  const house = startHousekeeping([{ purpose: 'x', everyMs: 10, run }], announce);
  await vi.advanceTimersByTimeAsync(1000);
  expect(ends).toHaveLength(1);
  let stopped = false;
  const stop = house.stop().then(() => (stopped = true));
  await vi.advanceTimersByTimeAsync(10);
  expect(stopped).toBe(false);
  ends[0]?.();
  await stop;
  expect(stopped).toBe(true);
});
