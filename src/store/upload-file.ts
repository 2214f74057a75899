import { existsSync, futimesSync } from 'node:fs';
import { createStreamHash, PartialFile, pump, type StreamHash, syncFolder, toIoError, withLock } from '../bytes/index.js';
import {
  type ByteCounters,
  type ByteStream,
  createCounters,
  createError,
  type Digest,
  type DigestAlgorithm,
  isToolkitError,
  parseDigest,
  splitDigest,
  type StoredBlob,
  type Upload,
} from '../core/index.js';
import { type Promised, publishBlobFile } from './blob-file.js';
import { placeClaim } from './claims.js';
import { gather } from './gather.js';
import { findUploadSize, removeUploadFolder, type UploadFolder, type UploadNote } from './upload-folder.js';

/** At a time: what a server gathers of a body. (measured: half of it takes a thirtieth more of the processor) */
const writeBytes = 512 * 1024;

/** What an upload has to know of its store. */
export interface UploadPlace {
  readonly layout: string;
  readonly counters: ByteCounters;
  /** It is over, well or not. */
  readonly forget: (id: string) => void;
}

/** An upload whose bytes lie in a file. It is open only while somebody works on it, so that many may wait for their next piece. */
export class UploadFile implements Upload {
  readonly repository: string;
  readonly #folder: UploadFolder;
  readonly #algorithm: DigestAlgorithm;
  readonly #place: UploadPlace;
  #size: number;
  /** Over the first `#hashed` bytes. Absent before the first, and when not all bytes went through it: then they are read at the end. */
  #hash: StreamHash | undefined;
  #hashed = 0;
  #unsynced = 0;
  #isBusy = false;

  constructor(folder: UploadFolder, note: UploadNote, place: UploadPlace) {
    this.repository = note.repository;
    this.#algorithm = note.algorithm;
    this.#folder = folder;
    this.#place = place;
    this.#size = findUploadSize(folder);
  }

  get id(): string {
    return this.#folder.id;
  }

  get size(): number {
    return this.#size;
  }

  /** Another process may have added to it meanwhile. */
  refresh(): void {
    if (!this.#isBusy) this.#note(findUploadSize(this.#folder));
  }

  /** The hash is given up; the files stay. */
  drop(): void {
    this.#hash?.drop();
    this.#hash = undefined;
    this.#hashed = 0;
  }

  async append(stream: ByteStream, expectedBytes = Number.MAX_SAFE_INTEGER): Promise<void> {
    await this.#withFile('add to', async (file) => {
      if (this.#size === 0) this.#hash ??= createStreamHash(this.#algorithm, expectedBytes);
      const isHashed = this.#hash !== undefined;
      const counters = isHashed ? this.#place.counters : createCounters();
      try {
        await pump(gather(stream, expectedBytes), this.#counted(), file, counters);
      } finally {
        if (!isHashed) this.#place.counters.written += counters.written;
        this.#note(file.size);
      }
      await this.#settle(() => file.settle());
    });
  }

  /** What was hashed is told apart from what was written: after a failure one of them may be ahead. */
  #counted(): Pick<StreamHash, 'update'> {
    const hash = this.#hash;
    return {
      update: async (bytes) => {
        await hash?.update(bytes);
        this.#hashed += bytes.byteLength;
      },
    };
  }

  /** The size is what is in the file. A hash over other bytes is of no use. */
  #note(size: number): void {
    this.#size = size;
    if (this.#hash === undefined || this.#hashed !== size) this.drop();
  }

  async finish(digest: Digest): Promise<StoredBlob> {
    parseDigest(digest);
    return this.#withFile('finish', async (file) => {
      const size = this.#size;
      const found = await this.#findDigest(file, splitDigest(digest).algorithm);
      if (found === digest) return { digest, size, fresh: await this.#publish(file, { digest, size }) };
      await this.#remove();
      throw digestMismatch(digest, found, size);
    });
  }

  async #findDigest(file: PartialFile, algorithm: DigestAlgorithm): Promise<Digest> {
    if (this.#hash === undefined || algorithm !== this.#algorithm) {
      this.drop();
      this.#hash = createStreamHash(algorithm, this.#size);
      const { counters } = this.#place;
      counters.resumed += await pump(file.read(this.#size, counters), this.#hash, undefined, counters);
    }
    const hex = await this.#hash.digest();
    this.drop();
    return parseDigest(`${algorithm}:${hex}`);
  }

  /** In this order the sync of the file brings the claim to the disk too. A collector goes by the claim and by the file's time. */
  async #publish(file: PartialFile, promised: Promised): Promise<boolean> {
    const { layout } = this.#place;
    const folders = placeClaim(layout, this.repository, promised.digest);
    const now = new Date();
    await this.#settle(() => file.sync((handle) => futimesSync(handle, now, now)));
    try {
      for (const folder of folders) syncFolder(folder);
      const fresh = publishBlobFile(layout, this.#folder.data, promised);
      await this.#remove();
      return fresh;
    } catch (error) {
      throw toIoError(error, 'write to', layout);
    }
  }

  async cancel(): Promise<void> {
    await this.#alone('cancel', () => this.#remove());
  }

  /** Where the disk failed behind the program's back, what is in the file is not known: nobody may go on with it. */
  async #settle(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      await this.#remove();
      throw error;
    }
  }

  async #remove(): Promise<void> {
    this.drop();
    this.#place.forget(this.id);
    await removeUploadFolder(this.#place.layout, this.#folder);
  }

  async #withFile<T>(what: string, action: (file: PartialFile) => Promise<T>): Promise<T> {
    return this.#alone(what, async () => {
      const file = await PartialFile.open(this.#folder.data, Number.MAX_SAFE_INTEGER, { writeBytes, unsynced: this.#unsynced });
      try {
        this.#assertSame(file.size, what);
        return await action(file);
      } finally {
        this.#unsynced = file.unsynced;
        await file.close();
      }
    });
  }

  #assertSame(found: number, what: string): void {
    const expected = this.#size;
    if (found === expected) return;
    this.#note(found);
    throw createError('bytes/file-changed', {
      message: `Cannot ${what} the upload "${this.id}": expected ${expected} bytes in it, found ${found}`,
      hint: 'Ask how many bytes are there, and go on from them',
    });
  }

  /** Within this process and among others. */
  async #alone<T>(what: string, action: () => Promise<T>): Promise<T> {
    const purpose = `${what} the upload "${this.id}"`;
    if (this.#isBusy) {
      throw createError('store/locked', {
        message: `Cannot ${purpose}: somebody else is at work on it`,
        hint: 'Wait until that has ended, ask how many bytes are there, and go on from them',
      });
    }
    this.#isBusy = true;
    try {
      return await withLock(this.#folder.lock, action, { timeoutMs: 0, long: true, purpose });
    } catch (error) {
      if (!isToolkitError(error, 'bytes/not-found') || existsSync(this.#folder.path)) throw error;
      this.drop();
      this.#place.forget(this.id);
      throw createError('bytes/not-found', { message: `Cannot ${purpose}: it is over`, hint: 'Begin a new one', cause: error });
    } finally {
      this.#isBusy = false;
    }
  }
}

function digestMismatch(expected: Digest, found: Digest, size: number): Error {
  return createError('bytes/digest-mismatch', {
    message: `Cannot store ${expected}: the ${size} bytes that were uploaded hash to ${found}`,
    hint: 'The bytes were damaged on their way, or are others: upload them again',
    where: expected,
  });
}
