import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { type BlobContent, type ByteCounters, createError, type Digest, parseDigest } from '../core/index.js';
import { openContent } from './content.js';
import { toIoError } from './os-error.js';

/** Where a blob is written: a new file, or from `position` on into one that exists. */
export interface BlobOutput {
  readonly path: string;
  readonly position?: number;
}

export interface BuiltBlob {
  readonly digest: Digest;
  readonly size: number;
  /** Of a tar: the digest of its bytes before compression. */
  readonly diffId?: Digest;
}

/** One blob to be built in whatever thread this is. */
export interface BlobJob {
  readonly content: BlobContent;
  readonly output: BlobOutput | undefined;
  /** fsync at the end. */
  readonly sync: boolean;
}

export interface JobWatch {
  readonly counters: ByteCounters;
  /** Bytes before compression. */
  readonly onBytes: (bytes: number) => void;
  readonly isCancelled: () => boolean;
}

/** Reads, frames, compresses, hashes and writes in one pass: a chunk is written while it is hashed, the next one read meanwhile. */
export async function runBlobJob({ content, output, sync }: BlobJob, watch: JobWatch): Promise<BuiltBlob> {
  const file = output === undefined ? undefined : await OutputFile.open(output);
  try {
    const built = await pump(content, file, watch);
    await file?.finish(sync);
    return built;
  } catch (error) {
    await file?.discard();
    throw error;
  }
}

async function pump(content: BlobContent, file: OutputFile | undefined, { counters, onBytes, isCancelled }: JobWatch): Promise<BuiltBlob> {
  const hash = createHash('sha256');
  const compressed = content.kind === 'tar' && content.compression !== 'none';
  let size = 0;
  let diffId: Digest | undefined;
  const watched = (bytes: number) => {
    if (isCancelled()) throw createError('core/cancelled', { message: 'Cannot go on: the work was cancelled' });
    onBytes(bytes);
  };
  for await (const chunk of openContent(content, { counters, onBytes: watched, onDiffId: compressed ? (digest) => (diffId = digest) : undefined })) {
    const writing = file?.write(chunk);
    hash.update(chunk);
    await writing;
    size += chunk.byteLength;
    counters.hashed += chunk.byteLength;
    if (file !== undefined) counters.written += chunk.byteLength;
  }
  const digest = parseDigest(`sha256:${hash.digest('hex')}`);
  if (content.kind !== 'tar') return { digest, size };
  return { digest, size, diffId: diffId ?? digest };
}

/** The file being written; one that was created is removed again after a failure. */
class OutputFile {
  readonly #handle: FileHandle;
  readonly #output: BlobOutput;
  #position: number;

  private constructor(handle: FileHandle, output: BlobOutput) {
    this.#handle = handle;
    this.#output = output;
    this.#position = output.position ?? 0;
  }

  static async open(output: BlobOutput): Promise<OutputFile> {
    try {
      return new OutputFile(await open(output.path, output.position === undefined ? 'wx' : 'r+'), output);
    } catch (error) {
      throw toIoError(error, 'write', output.path);
    }
  }

  async write(chunk: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < chunk.byteLength;) {
        const { bytesWritten } = await this.#handle.write(chunk, done, chunk.byteLength - done, this.#position);
        done += bytesWritten;
        this.#position += bytesWritten;
      }
    } catch (error) {
      throw toIoError(error, 'write', this.#output.path);
    }
  }

  async finish(sync: boolean): Promise<void> {
    try {
      if (sync) await this.#handle.sync();
      await this.#handle.close();
    } catch (error) {
      throw toIoError(error, 'write', this.#output.path);
    }
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    if (this.#output.position === undefined) await rm(this.#output.path, { force: true });
  }
}
