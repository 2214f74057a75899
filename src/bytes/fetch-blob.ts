import { rm } from 'node:fs/promises';
import {
  assertWanted,
  type BlobSource,
  type ByteCounters,
  type ByteStream,
  createCounters,
  createError,
  type Descriptor,
  errorCodes,
  isToolkitError,
  parseDigest,
  splitDigest,
} from '../core/index.js';
import { PartialFile } from './partial-file.js';
import { pump } from './pump.js';
import { sizeMismatch } from './streams.js';
import { createStreamHash, type StreamHash } from './threads/stream-hash.js';

export interface FetchBlobOptions {
  readonly counters?: ByteCounters | undefined;
  /** Told how many more bytes are there, those of an earlier run too. What it throws ends the fetching. */
  readonly onBytes?: ((delta: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told of the open file once all bytes are proven and before it is synced, to set its attributes. */
  readonly finish?: ((handle: number) => void) | undefined;
}

/**
 * Puts a blob into the file `path`, going on after what an earlier run left there. Kept bytes are read and hashed again, the others are
 * hashed and written once, and the file is whole, proven and synced when the promise resolves. Only one may work on a path at a time: the
 * caller holds a lock.
 *
 * Where going on brings wrong bytes, or the place cannot begin in the midst, all are fetched once more from the first; otherwise `bytes/digest-mismatch` or
 * `bytes/size-mismatch` is thrown, and the file is removed. So it is by every error of the package (exit 1); what the world does (exit 3:
 * a broken transfer, a full disk, a cancelled run) leaves the file for the next run. It is made readable for its owner alone (0600).
 */
export async function fetchBlob(blobs: BlobSource, descriptor: Descriptor, path: string, options: FetchBlobOptions = {}): Promise<void> {
  const file = await PartialFile.open(path, descriptor.size);
  try {
    await new Fetching(blobs, descriptor, file, options).run();
    await file.sync(options.finish ?? (() => {}));
  } catch (error) {
    if (file.size === 0 || !leavesWork(error)) await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** True for failures after which the same work can go on: those that the package itself is not to blame for. */
export function leavesWork(error: unknown): boolean {
  return !isToolkitError(error) || errorCodes[error.code].exit === 3;
}

class Fetching {
  readonly #blobs: BlobSource;
  readonly #descriptor: Descriptor;
  readonly #file: PartialFile;
  readonly #options: FetchBlobOptions;
  readonly #counters: ByteCounters;
  #done = 0;
  #reported = 0;

  constructor(blobs: BlobSource, descriptor: Descriptor, file: PartialFile, options: FetchBlobOptions) {
    this.#blobs = blobs;
    this.#descriptor = descriptor;
    this.#file = file;
    this.#options = options;
    this.#counters = options.counters ?? createCounters();
  }

  async run(): Promise<void> {
    const kept = this.#file.size;
    try {
      await this.#attempt();
    } catch (error) {
      if (kept === 0 || !(isMismatch(error) || (isRangeRefusal(error) && this.#file.size === kept))) throw error;
      await this.#file.empty();
      await this.#attempt();
    }
  }

  async #attempt(): Promise<void> {
    const { digest, size } = this.#descriptor;
    const { algorithm, hex } = splitDigest(parseDigest(digest));
    const hash = createStreamHash(algorithm, size);
    this.#done = 0;
    try {
      const kept = await pump(this.#watched(this.#file.read(size, this.#counters)), hash, undefined, this.#counters);
      this.#counters.resumed += kept;
      if (kept < size) await this.#receive(kept, hash);
      if (this.#file.size !== size) throw sizeMismatch(`the blob ${digest}`, size, String(this.#file.size));
      const found = await hash.digest();
      if (found !== hex) throw digestMismatch(digest, `${algorithm}:${found}`);
    } finally {
      hash.drop();
    }
  }

  async #receive(start: number, hash: StreamHash): Promise<void> {
    const stream = await this.#blobs.open(this.#descriptor, { start, end: this.#descriptor.size });
    await pump(this.#watched(stream), hash, this.#file, this.#counters);
  }

  /** Every byte is reported once, also when all are fetched again. */
  async *#watched(stream: ByteStream): ByteStream {
    const { onBytes, signal } = this.#options;
    const { digest, size } = this.#descriptor;
    for await (const chunk of stream) {
      assertWanted(signal);
      this.#done += chunk.byteLength;
      if (this.#done > size) throw sizeMismatch(`the blob ${digest}`, size, `at least ${this.#done}`);
      if (this.#done > this.#reported) onBytes?.(this.#done - this.#reported);
      this.#reported = Math.max(this.#reported, this.#done);
      yield chunk;
    }
  }
}

function isMismatch(error: unknown): boolean {
  return isToolkitError(error, 'bytes/digest-mismatch') || isToolkitError(error, 'bytes/size-mismatch');
}

/** Of a place that gives whole blobs only, or no sense for a range: from the first byte on it may do. */
function isRangeRefusal(error: unknown): boolean {
  return isToolkitError(error, 'registry/unsupported') || isToolkitError(error, 'registry/bad-answer');
}

function digestMismatch(expected: string, found: string): Error {
  return createError('bytes/digest-mismatch', {
    message: `Cannot use the blob ${expected}: found ${found}`,
    hint: 'The bytes are damaged where they come from: build the package again, or get it from elsewhere',
    where: expected,
  });
}
