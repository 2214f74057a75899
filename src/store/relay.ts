import { sizeMismatch } from '../bytes/index.js';
import { type BlobRelay, type BlobSink, createError, type Descriptor, type Digest, type GrowingBlob, type StoredContent } from '../core/index.js';
import { receivedBytes } from './receive-blob.js';
import { Transfer } from './transfer.js';

/** The bytes of one blob at any offset, as many as there are. Close it. */
export interface BlobReader {
  /** 0 where there are none yet. */
  read(buffer: Uint8Array, length: number, offset: number): Promise<number>;
  close(): Promise<void>;
}

/** Where relayed blobs go, and what can be read of them. */
export interface RelayPlace extends BlobSink {
  /** What has come of a large one; undefined where nothing can be read before it is whole. */
  openComing(digest: Digest): Promise<BlobReader | undefined>;
  /** Throws `store/blob-missing`. */
  openWhole(descriptor: Descriptor): Promise<BlobReader>;
}

/** Kept back until every byte has been verified, so that nobody takes wrong bytes for a whole blob. */
const heldBytes = 64 * 1024;

/** One transfer a blob in this process, whoever asks for it. */
export function createRelay(place: RelayPlace): BlobRelay {
  const transfers = new Map<string, Transfer>();
  const begin = (key: string, content: StoredContent, signal: AbortSignal | undefined) => {
    const transfer = new Transfer(content);
    transfer.join(signal);
    transfers.set(key, transfer);
    const forget = () => transfers.get(key) === transfer && transfers.delete(key);
    void transfer.run(place).then(forget);
    return transfer;
  };
  const join = (transfer: Transfer, signal: AbortSignal | undefined) => {
    transfer.join(signal);
    return transfer;
  };
  return {
    relay: async (content, signal) => {
      const { digest, size } = content.descriptor;
      const key = `${digest} ${size}`;
      const running = transfers.get(key);
      const transfer = running === undefined || running.isGivenUp ? begin(key, content, signal) : join(running, signal);
      // A source that refuses does so before anybody was promised bytes.
      while (!(transfer.isDone || (isLarge(transfer.descriptor) && transfer.came > 0))) await transfer.next();
      return new Reading(transfer, place);
    },
  };
}

function isLarge({ size }: Descriptor): boolean {
  return size >= receivedBytes;
}

class Reading implements GrowingBlob {
  readonly #transfer: Transfer;
  readonly #place: RelayPlace;
  #reader: BlobReader | undefined;
  /** From which attempt the bytes were that this one has given out. */
  #given: number | undefined;

  constructor(transfer: Transfer, place: RelayPlace) {
    this.#transfer = transfer;
    this.#place = place;
  }

  async read(buffer: Uint8Array, offset: number): Promise<number> {
    const { size, digest } = this.#transfer.descriptor;
    for (;;) {
      const next = this.#transfer.next();
      const { isDone } = this.#transfer;
      this.#assertSame();
      if (isDone && offset >= size) return 0;
      const end = isDone ? size : this.#readable();
      const count = offset < end ? await this.#readSome(buffer, Math.min(buffer.byteLength, end - offset), offset) : 0;
      if (count > 0 || buffer.byteLength === 0) return count;
      if (isDone) throw sizeMismatch(`the blob ${digest}`, size, `no more than ${offset}`);
      await next;
    }
  }

  #readable(): number {
    const { descriptor, came } = this.#transfer;
    return isLarge(descriptor) ? Math.min(came, descriptor.size - heldBytes) : 0;
  }

  async #readSome(buffer: Uint8Array, length: number, offset: number): Promise<number> {
    const { attempt } = this.#transfer;
    this.#reader ??= await this.#open();
    const count = (await this.#reader?.read(buffer, length, offset)) ?? 0;
    // It began anew while this was read: nobody knows what of.
    if (attempt !== this.#transfer.attempt) return this.#given === undefined ? 0 : this.#fail();
    if (count > 0) this.#given = attempt;
    return count;
  }

  /** The file of what comes is renamed at the end; who has it open does not notice. */
  async #open(): Promise<BlobReader | undefined> {
    const { descriptor } = this.#transfer;
    const coming = this.#transfer.isDone ? undefined : await this.#place.openComing(descriptor.digest);
    return coming ?? (this.#transfer.isDone ? this.#place.openWhole(descriptor) : undefined);
  }

  #assertSame(): void {
    if (this.#given !== undefined && this.#given !== this.#transfer.attempt) this.#fail();
  }

  #fail(): never {
    const { digest } = this.#transfer.descriptor;
    throw createError('bytes/file-changed', {
      message: `Cannot go on reading the blob ${digest}: what an earlier run had left of it was wrong, and it is fetched anew`,
      hint: 'Ask for it once more',
      where: digest,
    });
  }

  async close(): Promise<void> {
    const reader = this.#reader;
    this.#reader = undefined;
    await reader?.close();
  }
}
