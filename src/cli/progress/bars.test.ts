import { describe, expect, it } from 'vitest';
import { plainStyle } from '../terminal.js';
import { type BarItem, toFrame } from './bars.js';

const item = (given: Partial<BarItem>): BarItem => ({ task: 'pack', name: 'model.safetensors', total: 1000, since: 0, bytes: 0, ...given });
const none = { finished: 0, bytes: 0, since: 0 };
const screen = (width: number, height = 24) => ({ color: plainStyle.color, width, height });

describe('toFrame', () => {
  it('shows share, bytes and rate', () => {
    expect(toFrame([item({ bytes: 500 })], none, 1000, screen(100))).toEqual([
      `${'pack model.safetensors'.padEnd(41)} ████████████░░░░░░░░░░░░  50%      500 B / 1 kB   500 B/s`,
    ]);
  });

  it.each([[200], [100], [80], [60], [40]])('never breaks a line at %i columns', (width) => {
    const long = item({ name: `${'deep/'.repeat(40)}model.safetensors`, bytes: 123_456_789, total: 999_999_999_999 });
    const lines = toFrame([long, item({ total: undefined }), item({})], { ...none, finished: 1234 }, 5000, screen(width));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(width);
  });

  it('says 100% only when it is true', () => {
    const share = (bytes: number, total: number) => /(\d+)%/.exec(toFrame([item({ bytes, total })], none, 1, screen(100))[0] ?? '')?.[1];
    expect([share(999, 1000), share(1000, 1000), share(0, 0), share(1001, 1000)]).toEqual(['99', '100', '100', '100']);
  });

  it('folds what does not fit and sums up', () => {
    const items = Array.from({ length: 20 }, (_, at) => item({ name: `f${at}`, bytes: 10 }));
    const lines = toFrame(items, { finished: 3, bytes: 800, since: 0 }, 1000, screen(100, 10));
    expect(lines).toHaveLength(8);
    expect(lines.at(-1)).toBe('3 items done, 13 more at work, 1 kB, 1 kB/s');
  });
});
