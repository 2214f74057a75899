import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { createError } from '../core/index.js';
import type { HashAnswer, HashRequest } from './hash-messages.js';

type Unnumbered<T> = T extends { id: number } ? Omit<T, 'id'> : never;

/** A thread that hashes. It does not keep the process alive unless an answer is awaited. */
export interface HashThread {
  /** Requests that are not answered yet. */
  readonly pending: number;
  ask(request: Unnumbered<HashRequest>): Promise<HashAnswer>;
  /** Forgets a hash; nothing is answered. */
  drop(hash: number): void;
}

/** Beside the bundle, or where the build leaves it when the sources run as they are. */
const workerUrl = new URL(import.meta.url.endsWith('.ts') ? '../../dist/hash-worker.js' : './hash-worker.js', import.meta.url);

/** More threads than cores gain nothing. */
const mostThreads = Math.min(4, availableParallelism());

const threads: HashThread[] = [];

/** The thread with the least to do, a new one while there are cores; undefined where the worker's file is missing, as in somebody else's bundle. */
export function findHashThread(): HashThread | undefined {
  const idle = threads.find((thread) => thread.pending === 0);
  if (idle !== undefined) return idle;
  if (threads.length < mostThreads && existsSync(fileURLToPath(workerUrl))) {
    const started = startThread();
    threads.push(started);
    return started;
  }
  return threads.reduce<HashThread | undefined>((least, thread) => (least === undefined || thread.pending < least.pending ? thread : least), undefined);
}

function startThread(): HashThread {
  const worker = new Worker(workerUrl, { execArgv: [] });
  const waiting = new Map<number, { resolve: (answer: HashAnswer) => void; reject: (error: unknown) => void }>();
  let requests = 0;
  worker.unref();
  worker.on('message', (answer: HashAnswer) => {
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
    if (waiting.size === 0) worker.unref();
  });
  const fail = (cause: unknown) => {
    threads.splice(threads.indexOf(thread), 1);
    for (const { reject } of waiting.values()) reject(createError('core/bug', { message: 'Cannot go on: a hash thread ended', cause }));
    waiting.clear();
  };
  worker.once('error', fail).once('exit', fail);
  const thread: HashThread = {
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
    drop: (hash) => worker.postMessage({ kind: 'drop', hash } satisfies HashRequest),
  };
  return thread;
}
