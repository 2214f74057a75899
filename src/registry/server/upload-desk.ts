import type { ByteStream, Upload, UploadStore } from '../../core/index.js';
import { Refusal } from './refusal.js';

/** Lets one request at a time work on an upload. */
export interface UploadDesk {
  /**
   * Runs `work` once nobody else works on the upload; undefined when there is no such upload. Whoever is adding bytes to it is stopped: a client that
   * comes back has given up the connection on which they came, though that may not have been noticed here. `work` passes the bytes that it adds
   * through `guard`, by which it can be stopped in its turn.
   */
  work<T>(id: string, work: (upload: Upload, guard: Guard) => Promise<T>): Promise<T | undefined>;
}

export type Guard = (stream: ByteStream) => ByteStream;

export function createUploadDesk(store: UploadStore): UploadDesk {
  const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<unknown> }>();
  return {
    work: async (id, work) => {
      for (let other = running.get(id); other !== undefined; other = running.get(id)) {
        other.stop.abort(new Refusal(409, 'BLOB_UPLOAD_INVALID', 'Another request goes on with this upload'));
        await other.ended;
      }
      const stop = new AbortController();
      const done = find(store, id, (upload) => work(upload, (stream) => stoppable(stream, stop.signal)));
      const ended = done.catch(() => {}).finally(() => running.delete(id));
      running.set(id, { stop, ended });
      return done;
    },
  };
}

async function find<T>(store: UploadStore, id: string, work: (upload: Upload) => Promise<T>): Promise<T | undefined> {
  const upload = await store.findUpload(id);
  return upload === undefined ? undefined : work(upload);
}

/** The same bytes, until the signal comes: then what it says is thrown, also while the next bytes are waited for. */
async function* stoppable(stream: ByteStream, signal: AbortSignal): ByteStream {
  const iterator = stream[Symbol.asyncIterator]();
  let fail = (_reason: unknown): void => {};
  signal.addEventListener('abort', () => fail(signal.reason), { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const step = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        fail = reject;
        iterator.next().then(resolve, reject);
      });
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    // What is still being waited for would have to come first.
    const ended = Promise.resolve(iterator.return?.()).catch(() => {});
    if (!signal.aborted) await ended;
  }
}
