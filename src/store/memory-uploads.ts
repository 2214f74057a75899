import { createHash, randomBytes } from 'node:crypto';
import {
  type ByteStream,
  createError,
  type Digest,
  parseDigest,
  splitDigest,
  type StoredBlob,
  type Upload,
  type UploadStore,
} from '../core/index.js';
import { judgeRepository } from './judge-repository.js';

/** Takes the bytes of a finished upload. False when they were there already. */
type Keep = (repository: string, digest: Digest, bytes: Uint8Array) => boolean;

/** Uploads that live as long as the object. */
export function createMemoryUploads(keep: Keep): UploadStore {
  const uploads = new Map<string, MemoryUpload>();
  return {
    beginUpload: async (repository) => {
      const upload = new MemoryUpload(judgeRepository(repository), keep, () => uploads.delete(upload.id));
      uploads.set(upload.id, upload);
      return upload;
    },
    findUpload: async (id) => uploads.get(id),
    countUploads: () => uploads.size,
    purgeUploads: async (ageMs) => {
      const old = [...uploads.values()].filter((upload) => !upload.isBusy && Date.now() - upload.changedMs >= ageMs);
      for (const upload of old) await upload.cancel();
      return old.length;
    },
  };
}

class MemoryUpload implements Upload {
  readonly id = randomBytes(16).toString('hex');
  readonly repository: string;
  changedMs = Date.now();
  isBusy = false;
  readonly #keep: Keep;
  readonly #forget: () => void;
  #isOver = false;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(repository: string, keep: Keep, forget: () => void) {
    this.repository = repository;
    this.#keep = keep;
    this.#forget = forget;
  }

  get size(): number {
    return this.#size;
  }

  async append(stream: ByteStream): Promise<void> {
    await this.#alone('add to', async () => {
      for await (const chunk of stream) {
        this.#chunks.push(Buffer.from(chunk));
        this.#size += chunk.byteLength;
        this.changedMs = Date.now();
      }
    });
  }

  async finish(digest: Digest): Promise<StoredBlob> {
    const { algorithm } = splitDigest(parseDigest(digest));
    return this.#alone('finish', async () => {
      const bytes = Buffer.concat(this.#chunks);
      this.#end();
      const found = `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
      if (found === digest) return { digest, size: bytes.byteLength, fresh: this.#keep(this.repository, digest, bytes) };
      throw createError('bytes/digest-mismatch', {
        message: `Cannot store ${digest}: the ${bytes.byteLength} bytes that were uploaded hash to ${found}`,
        hint: 'The bytes were damaged on their way, or are others: upload them again',
        where: digest,
      });
    });
  }

  async cancel(): Promise<void> {
    await this.#alone('cancel', async () => this.#end());
  }

  #end(): void {
    this.#isOver = true;
    this.#chunks = [];
    this.#forget();
  }

  async #alone<T>(what: string, action: () => Promise<T>): Promise<T> {
    const purpose = `${what} the upload "${this.id}"`;
    if (this.#isOver) throw createError('bytes/not-found', { message: `Cannot ${purpose}: it is over`, hint: 'Begin a new one' });
    if (this.isBusy) {
      throw createError('store/locked', {
        message: `Cannot ${purpose}: somebody else is at work on it`,
        hint: 'Wait until that has ended, ask how many bytes are there, and go on from them',
      });
    }
    this.isBusy = true;
    try {
      return await action();
    } finally {
      this.isBusy = false;
    }
  }
}
