import { expect, it } from 'vitest';
import { PeerWatch } from './peer-watch.js';
import { defaultServeLimits } from './serve-limits.js';

function watch() {
  const seen = { idle: [] as number[], givenUp: 0, now: 0 };
  const limits = { ...defaultServeLimits, idleMs: 60_000, rateMs: 60_000, leastRate: 1024 };
  const peer = { setIdle: (ms: number) => void seen.idle.push(ms), giveUp: () => void seen.givenUp++ };
  return { seen, watch: new PeerWatch(limits, peer, () => seen.now) };
}

it('lets a client be idle for a while, in its own time only', () => {
  const { seen, watch: peer } = watch();
  peer.expect();
  peer.expect();
  peer.rest();
  peer.rest();
  peer.expect();
  peer.leave();
  expect(seen.idle).toEqual([60_000, 0, 60_000]);
});

it.each([
  [1023, 1],
  [1024, 0],
])('%i bytes a second', (rate, givenUp) => {
  const { seen, watch: peer } = watch();
  peer.expect();
  for (let second = 1; second <= 60; second++) {
    seen.now = second * 1000;
    peer.progress(rate);
    peer.check();
  }
  expect(seen.givenUp).toBe(givenUp);
});

it('counts each minute anew', () => {
  const { seen, watch: peer } = watch();
  peer.expect();
  peer.progress(1e9);
  for (seen.now = 10_000; seen.now < 120_000; seen.now += 10_000) peer.check();
  expect(seen.givenUp).toBe(0);
  seen.now = 120_000;
  peer.check();
  expect(seen.givenUp).toBe(1);
});

it('does not count the time that we take', () => {
  const { seen, watch: peer } = watch();
  for (let turn = 0; turn < 100; turn++) {
    peer.expect();
    seen.now += 500;
    peer.progress(512);
    peer.rest();
    seen.now += 3_600_000;
    peer.check();
  }
  expect(seen.givenUp).toBe(0);
});

it('sees a slow client also when no single wait is long', () => {
  const { seen, watch: peer } = watch();
  for (let turn = 0; turn < 61; turn++) {
    peer.expect();
    seen.now += 1000;
    peer.progress(10);
    peer.rest();
  }
  expect(seen.givenUp).toBe(1);
});

it('takes bytes that may be on their way for sent', () => {
  const { seen, watch: peer } = watch();
  peer.expect(65_536);
  seen.now = 61_000;
  peer.check();
  expect(seen.givenUp).toBe(0);
  seen.now = 190_000;
  peer.check();
  expect(seen.givenUp).toBe(1);
});
