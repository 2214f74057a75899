import { type BlobContent, type ByteCounters, createCounters } from '../core/index.js';
import { type BlobJob, type BlobOutput, type BuiltBlob, type JobWatch, runBlobJob } from './blob-job.js';
import { hasWorkers, runInWorker } from './worker-pool.js';

export type { BlobOutput, BuiltBlob } from './blob-job.js';

/** Starting a worker costs about as much time as this many bytes. */
const workerBytes = 32 * 1024 * 1024;

export interface BuildBlobOptions {
  readonly counters?: ByteCounters | undefined;
  /** Told how many more bytes, counted before compression, went through. Must not throw. */
  readonly onBytes?: ((delta: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** fsync before it is done; true by default. */
  readonly sync?: boolean | undefined;
}

/**
 * Makes the bytes of a blob, hashes them and writes them to `output`, a new file (`bytes/exists`) or a place in one that exists;
 * without output they are only hashed. One pass: each byte is read once and written at most once; a compressed tar is hashed
 * before and after. After a failure or an abort (`core/cancelled`) a file that was created is gone. Large files, and tars of
 * files, are worked on in a few threads: call it for several blobs at a time.
 */
export async function buildBlob(content: BlobContent, output: BlobOutput | undefined, options: BuildBlobOptions = {}): Promise<BuiltBlob> {
  const { counters = createCounters(), onBytes = () => {}, signal, sync = true } = options;
  const job: BlobJob = { content, output, sync };
  const watch: JobWatch = { counters, onBytes, isCancelled: () => signal?.aborted === true };
  return localBytes(content) >= workerBytes && hasWorkers() ? runInWorker(job, watch) : runBlobJob(job, watch);
}

/** Bytes that a worker can get by itself: 0 when any of them come from elsewhere. */
function localBytes(content: BlobContent): number {
  if (content.kind === 'file') return content.size;
  if (content.kind !== 'tar') return 0;
  let bytes = 0;
  for (const { content: part } of content.members) {
    if (part.kind === 'stream') return 0;
    if (part.kind === 'file') bytes += part.size;
  }
  return bytes;
}
