import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { createError } from '../../core/index.js';
import type { ByteAnswer, ByteRequest } from './byte-messages.js';

type Unnumbered<T> = T extends { id: number } ? Omit<T, 'id'> : never;

/** A thread for what costs time: hashing and compressing. It does not keep the process alive unless an answer is awaited. */
export interface ByteThread {
  /** Requests that are not answered yet. */
  readonly pending: number;
  ask(request: Unnumbered<ByteRequest>): Promise<ByteAnswer>;
  /** Forgets a hash; nothing is answered. */
  drop(hash: number): void;
}

/** Beside the bundle, or where the build leaves it when the sources run as they are. */
const workerUrl = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/byte-worker.js' : './byte-worker.js', import.meta.url);

/** More threads than cores gain nothing. */
const mostThreads = Math.min(4, availableParallelism());

const threads: ByteThread[] = [];

/** The thread with the least to do, a new one while there are cores; undefined where the worker's file is missing, as in somebody else's bundle. */
export function findByteThread(): ByteThread | undefined {
  const idle = threads.find((thread) => thread.pending === 0);
  if (idle !== undefined) return idle;
  if (threads.length < mostThreads && existsSync(fileURLToPath(workerUrl))) {
    const started = startThread();
    threads.push(started);
    return started;
  }
  return threads.reduce<ByteThread | undefined>(
    (least, thread) => (least === undefined || thread.pending < least.pending ? thread : least),
    undefined,
  );
}

function startThread(): ByteThread {
  const worker = new Worker(workerUrl, { execArgv: [] });
  const waiting = new Map<number, { resolve: (answer: ByteAnswer) => void; reject: (error: unknown) => void }>();
  let requests = 0;
  worker.on('message', (answer: ByteAnswer) => {
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
    if (waiting.size === 0) worker.unref();
  });
  const fail = (cause: unknown) => {
    threads.splice(threads.indexOf(thread), 1);
    for (const { reject } of waiting.values()) reject(createError('core/bug', { message: 'Cannot go on: a thread ended', cause }));
    waiting.clear();
  };
  worker.once('error', fail).once('exit', fail);
  // After the listeners: adding one for messages makes the process wait again.
  worker.unref();
  const thread: ByteThread = {
    get pending() {
      return waiting.size;
    },
    ask: (request) =>
      new Promise((resolve, reject) => {
        const id = requests++;
        waiting.set(id, { resolve, reject });
        worker.ref();
        worker.postMessage({ id, ...request });
      }),
    drop: (hash) => worker.postMessage({ kind: 'drop', hash } satisfies ByteRequest),
  };
  return thread;
}
