import { createCancelled } from '../../core/index.js';

/** The end of the time that an answer may take; counts only while something is awaited, not while the caller works on what it got. */
export class Deadline {
  readonly #signal: AbortSignal | undefined;
  readonly #onLate: () => Error;
  #leftMs: number;

  /** `onLate` makes what is thrown when the time is over. */
  constructor(timeoutMs: number, signal: AbortSignal | undefined, onLate: () => Error) {
    this.#leftMs = timeoutMs;
    this.#signal = signal;
    this.#onLate = onLate;
  }

  /** The result of `work`; throws what `onLate` makes, or `core/cancelled`, while `work` goes on. */
  async within<T>(work: Promise<T>): Promise<T> {
    const started = performance.now();
    const stop = new AbortController();
    try {
      return await Promise.race([work, this.#late(stop.signal), ...(this.#signal === undefined ? [] : [cancelled(this.#signal, stop.signal)])]);
    } finally {
      this.#leftMs -= performance.now() - started;
      stop.abort();
      // Nobody may be left to hear it fail.
      work.catch(() => {});
    }
  }

  #late(stop: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      const timer = setTimeout(() => reject(this.#onLate()), Math.min(Math.max(0, this.#leftMs), longestTimerMs));
      stop.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
  }
}

/** Node takes a longer one for none at all. */
const longestTimerMs = 2 ** 31 - 1;

function cancelled(signal: AbortSignal, stop: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(createCancelled(signal.reason));
    if (signal.aborted) return fail();
    signal.addEventListener('abort', fail, { once: true, signal: stop });
  });
}
