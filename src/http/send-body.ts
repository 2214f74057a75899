import type { ClientRequest } from 'node:http';
import { sizeMismatch } from '../bytes/index.js';
import type { ByteCounters } from '../core/index.js';
import type { HttpBody } from './http.js';
import type { StallWatch } from './stall-watch.js';

/**
 * Sends a body until it ends or `outcome` settles, which is the answer or what keeps it from coming. A chunk is on the socket before the
 * second next one is asked for. Throws `bytes/size-mismatch` when the body is not as long as it said, and unchanged what its stream
 * throws. True when all of it went out.
 */
export async function sendBody(
  request: ClientRequest,
  body: HttpBody,
  outcome: Promise<unknown>,
  watch: StallWatch,
  counters: ByteCounters,
): Promise<boolean> {
  const race = new Race(outcome);
  watch.rest();
  const iterator = (await body.open())[Symbol.asyncIterator]();
  let size = 0;
  let previous: Promise<true> = Promise.resolve(true);
  try {
    for (;;) {
      const step = await race.with(iterator.next());
      if (step === undefined) return false;
      if (step.done === true) break;
      size += step.value.byteLength;
      if (body.size !== undefined && size > body.size) throw sizeMismatch('what is sent', body.size, `at least ${size}`);
      watch.expect();
      const written = step.value.byteLength === 0 ? previous : write(request, step.value, counters);
      if ((await race.with(previous)) === undefined) return false;
      watch.rest();
      previous = written;
    }
    if (body.size !== undefined && size < body.size) throw sizeMismatch('what is sent', body.size, String(size));
    watch.expect();
    if ((await race.with(previous)) === undefined) return false;
    request.end();
    return true;
  } finally {
    // Not awaited: a source that hangs would keep the answer from the caller.
    void iterator.return?.().catch(() => {});
  }
}

/** Resolves when the socket has taken it. A failure shows in the outcome of the request. */
function write(request: ClientRequest, chunk: Uint8Array, counters: ByteCounters): Promise<true> {
  return new Promise((resolve) => {
    request.write(chunk, (error) => {
      if (error === null || error === undefined) counters.sent += chunk.byteLength;
      resolve(true);
    });
  });
}

/** Promise.race over and over with one promise would keep a reaction for every chunk until the end. */
class Race {
  #isOver = false;
  #wake = () => {};

  constructor(outcome: Promise<unknown>) {
    const end = () => {
      this.#isOver = true;
      this.#wake();
    };
    outcome.then(end, end);
  }

  /** Undefined when the outcome came first. */
  with<T extends object | true>(promise: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      this.#wake = () => resolve(undefined);
      if (this.#isOver) this.#wake();
      promise.then(resolve, reject);
    });
  }
}
