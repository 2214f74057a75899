import type { LongRunning } from '../results.js';

/**
 * Runs work that has its result long before its end: it calls `tell` once. Rejects when it fails before that; a failure afterwards is that of
 * `ended`.
 */
export function startLongRunning<R>(work: (tell: (started: R) => void) => Promise<void>): Promise<LongRunning<R>> {
  return new Promise((resolve, reject) => {
    const ended: Promise<void> = Promise.resolve().then(() => work((started) => resolve({ started, ended })));
    ended.then(() => reject(new Error('The work ended without a result')), reject);
  });
}
