import { setTimeout } from 'node:timers/promises';
import { createCancelled } from '../core/index.js';

/** Waits until so many more bytes are in the measure. */
export type Pace = (bytes: number) => Promise<void>;

export interface PaceClock {
  /** In milliseconds. */
  readonly now: () => number;
  readonly pause: (ms: number) => Promise<unknown>;
}

/** Bytes of all who share it, at most so many a second. What was not used while nobody asked is not made up for. */
export function createPace(bytesPerSecond: number, clock: PaceClock): Pace {
  let due = -Infinity;
  return async (bytes) => {
    const now = clock.now();
    due = Math.max(due, now) + (bytes / bytesPerSecond) * 1000;
    if (due > now) await clock.pause(due - now);
  };
}

/** Real time. Throws `core/cancelled` while it waits. */
export function createClock(signal: AbortSignal | undefined): PaceClock {
  const pause = async (ms: number) => {
    try {
      await setTimeout(ms, undefined, signal === undefined ? {} : { signal });
    } catch (cause) {
      throw createCancelled(cause);
    }
  };
  return { now: () => performance.now(), pause };
}
