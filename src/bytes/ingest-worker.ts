import { parentPort } from 'node:worker_threads';
import { createCounters } from '../core/index.js';
import { runBlobJob } from './blob-job.js';
import { type IngestAnswer, type IngestRequest, SharedWatch, toSent } from './ingest-messages.js';

/** Entry point of a worker thread: builds one blob after the other for `WorkerPool`. */
parentPort?.on('message', (request: IngestRequest) => {
  void answer(request).then((message) => parentPort?.postMessage(message, []));
});

async function answer({ shared, ...job }: IngestRequest): Promise<IngestAnswer> {
  const watch = new SharedWatch(shared);
  const counters = createCounters();
  try {
    const blob = await runBlobJob(job, { counters, onBytes: (bytes) => watch.add(bytes), isCancelled: () => watch.cancelled });
    return { kind: 'built', blob, counters };
  } catch (error) {
    return { kind: 'failed', error: toSent(error) };
  }
}
