import { createCancelled } from '../../../core/index.js';

interface Running<T> {
  readonly result: Promise<T>;
  readonly controller: AbortController;
  waiting: number;
}

/** Many who want the same at the same time get it by one action. It is cancelled when the last of them has given up. */
export class SharedWork<T> {
  readonly #running = new Map<string, Running<T>>();

  /** Throws `core/cancelled` as soon as `signal` says so, whatever becomes of the others. */
  async run(key: string, action: (signal: AbortSignal) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (signal?.aborted === true) throw cancelled(signal);
    const running = this.#running.get(key) ?? this.#start(key, action);
    running.waiting += 1;
    const waiting = signal === undefined ? undefined : whenAborted(signal);
    try {
      return await (waiting === undefined ? running.result : Promise.race([running.result, waiting.promise]));
    } finally {
      waiting?.forget();
      running.waiting -= 1;
      if (running.waiting === 0) {
        if (this.#running.get(key) === running) this.#running.delete(key);
        running.controller.abort();
      }
    }
  }

  #start(key: string, action: (signal: AbortSignal) => Promise<T>): Running<T> {
    const controller = new AbortController();
    const result = action(controller.signal);
    // Whoever still waits sees the failure; after the last one has gone nobody does.
    result.catch(() => {});
    const running = { result, controller, waiting: 0 };
    this.#running.set(key, running);
    return running;
  }
}

function whenAborted(signal: AbortSignal): { readonly promise: Promise<never>; forget(): void } {
  let forget = () => {};
  const promise = new Promise<never>((_resolve, reject) => {
    const onAbort = () => reject(cancelled(signal));
    signal.addEventListener('abort', onAbort, { once: true });
    forget = () => signal.removeEventListener('abort', onAbort);
  });
  return { promise, forget };
}

function cancelled(signal: AbortSignal): Error {
  return createCancelled(signal.reason);
}
