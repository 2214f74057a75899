import { type ByteCounters, createError, type ErrorCode, isToolkitError } from '../core/index.js';
import type { BlobJob, BuiltBlob } from './blob-job.js';

/** What the main thread sends to a worker. `shared` is laid out by `SharedWatch`. */
export interface IngestRequest extends BlobJob {
  readonly shared: SharedArrayBuffer;
}

/** What a worker answers, once for each request. */
export type IngestAnswer =
  | { readonly kind: 'built'; readonly blob: BuiltBlob; readonly counters: ByteCounters }
  | { readonly kind: 'failed'; readonly error: SentError };

/** A ToolkitError on its way between threads, which only carry plain data. */
interface SentError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | undefined;
  readonly where: string | undefined;
}

export function toSent(error: unknown): SentError {
  if (isToolkitError(error)) return { code: error.code, message: error.message, hint: error.hint, where: error.where };
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: 'core/bug', message: `Cannot go on in a worker: ${text}`, hint: undefined, where: undefined };
}

export function fromSent({ code, ...details }: SentError): Error {
  return createError(code, details);
}

/** Progress out of a worker and the wish to stop into it, without a message for either: it is busy. */
export class SharedWatch {
  readonly shared: SharedArrayBuffer;
  readonly #bytes: BigInt64Array;
  readonly #cancelled: Int32Array;

  constructor(shared = new SharedArrayBuffer(16)) {
    this.shared = shared;
    this.#bytes = new BigInt64Array(shared, 0, 1);
    this.#cancelled = new Int32Array(shared, 8, 1);
  }

  add(bytes: number): void {
    Atomics.add(this.#bytes, 0, BigInt(bytes));
  }

  /** Bytes added since the last time. */
  take(): number {
    return Number(Atomics.exchange(this.#bytes, 0, 0n));
  }

  cancel(): void {
    Atomics.store(this.#cancelled, 0, 1);
  }

  get cancelled(): boolean {
    return Atomics.load(this.#cancelled, 0) !== 0;
  }
}
