import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { createError } from '../core/index.js';
import type { BlobJob, BuiltBlob, JobWatch } from './blob-job.js';
import { fromSent, type IngestAnswer, SharedWatch } from './ingest-messages.js';

/** More than cores gain nothing, more than three (two that compress) take more memory than they are worth. */
const poolSize = Math.min(3, availableParallelism());
const compressorsAtOnce = 2;

const tickMilliseconds = 50;

/** Beside the bundle, or where the build leaves it when the sources run as they are. */
const workerUrl = new URL(import.meta.url.endsWith('.ts') ? '../../dist/ingest-worker.js' : './ingest-worker.js', import.meta.url);

const idle: Worker[] = [];
const waiting: (() => void)[] = [];
let alive = 0;
let compressing = 0;

/** False where the worker's file is missing, as in a bundle of somebody else: there everything is done in one thread. */
export function hasWorkers(): boolean {
  return existsSync(fileURLToPath(workerUrl));
}

/** Runs a job in a worker, started when first needed and kept. An idle one does not keep the process alive. */
export async function runInWorker(job: BlobJob, watch: JobWatch): Promise<BuiltBlob> {
  const compresses = job.content.kind === 'tar' && job.content.compression !== 'none';
  while (isFull(compresses)) await new Promise<void>((resolve) => waiting.push(resolve));
  const worker = idle.pop() ?? startWorker();
  if (compresses) compressing++;
  const shared = new SharedWatch();
  const tick = () => {
    watch.onBytes(shared.take());
    if (watch.isCancelled()) shared.cancel();
  };
  const ticking = setInterval(tick, tickMilliseconds);
  try {
    const answer = await ask(worker, job, shared);
    if (answer.kind === 'failed') throw fromSent(answer.error);
    tick();
    watch.counters.read += answer.counters.read;
    watch.counters.hashed += answer.counters.hashed;
    watch.counters.written += answer.counters.written;
    return answer.blob;
  } finally {
    clearInterval(ticking);
    if (compresses) compressing--;
    wakeAll();
  }
}

function isFull(compresses: boolean): boolean {
  return (idle.length === 0 && alive >= poolSize) || (compresses && compressing >= compressorsAtOnce);
}

function startWorker(): Worker {
  alive++;
  const worker = new Worker(workerUrl, { execArgv: [] });
  // Whoever waits for it hears of it in `ask`; an idle one may die unnoticed.
  worker.on('error', () => {});
  worker.once('exit', () => {
    alive--;
    if (idle.includes(worker)) idle.splice(idle.indexOf(worker), 1);
    wakeAll();
  });
  return worker;
}

function wakeAll(): void {
  for (const wake of waiting.splice(0)) wake();
}

/** A worker that answered is idle again; one that died is not. */
function ask(worker: Worker, job: BlobJob, { shared }: SharedWatch): Promise<IngestAnswer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number) => reject(createError('core/bug', { message: `Cannot go on: a worker thread ended with status ${code}` }));
    worker.ref();
    worker.once('message', (answer: IngestAnswer) => {
      worker.off('error', reject).off('exit', onExit).unref();
      idle.push(worker);
      resolve(answer);
    });
    worker.once('error', reject).once('exit', onExit);
    worker.postMessage({ ...job, shared }, []);
  });
}
