import { type BlobSink, type BlobSource, type ByteStream, createError, type Descriptor, type StoredContent } from '../core/index.js';

type State = { readonly kind: 'coming' } | { readonly kind: 'done' } | { readonly kind: 'failed'; readonly error: unknown };

/** A blob on its way into a store. All who read it meanwhile wait for the same events. */
export class Transfer {
  readonly descriptor: Descriptor;
  readonly #blobs: BlobSource;
  readonly #abort = new AbortController();
  readonly #waiting: (() => void)[] = [];
  #wanted = 0;
  #state: State = { kind: 'coming' };
  #came = 0;
  #attempt = 1;

  constructor({ blobs, descriptor }: StoredContent) {
    this.#blobs = blobs;
    this.descriptor = descriptor;
  }

  /** How many bytes came in this attempt; the last of them may still be on their way to the disk. */
  get came(): number {
    return this.#came;
  }

  /** Another number means that the bytes before were wrong. */
  get attempt(): number {
    return this.#attempt;
  }

  /** All bytes are there and verified. Throws what the put threw. */
  get isDone(): boolean {
    if (this.#state.kind === 'failed') throw this.#state.error;
    return this.#state.kind === 'done';
  }

  get isGivenUp(): boolean {
    return this.#abort.signal.aborted;
  }

  /** The transfer is given up once all who joined it say so; without a signal one never does. */
  join(signal: AbortSignal | undefined): void {
    this.#wanted += 1;
    const leave = () => {
      this.#wanted -= 1;
      if (this.#wanted === 0) this.#abort.abort(signal?.reason);
    };
    if (signal?.aborted === true) leave();
    else signal?.addEventListener('abort', leave, { once: true });
  }

  /** Resolves at the next event. To be asked for before one looks what there is, so that none is missed. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Resolves when the transfer is over, well or not. */
  async run(sink: BlobSink): Promise<void> {
    const { descriptor } = this;
    const { digest, size } = descriptor;
    const blobs: BlobSource = { has: (asked) => this.#blobs.has(asked), open: (asked, range) => this.#open(asked, range) };
    try {
      await sink.put({ kind: 'blob', blobs, descriptor }, { expected: { digest, size }, signal: this.#abort.signal });
      this.#state = { kind: 'done' };
    } catch (error) {
      this.#state = { kind: 'failed', error };
    }
    this.#wake();
  }

  /** Who receives the blob opens it where the bytes of an earlier run end; from before what has come only when those were wrong. */
  async #open(descriptor: Descriptor, range: Parameters<BlobSource['open']>[1]): Promise<ByteStream> {
    const start = range?.start ?? 0;
    const stream = await this.#blobs.open(descriptor, range);
    if (start < this.#came) this.#attempt += 1;
    this.#came = start;
    return this.#watched(stream);
  }

  async *#watched(stream: ByteStream): ByteStream {
    for await (const chunk of stream) {
      if (this.isGivenUp) throw createError('core/cancelled', { message: `Cannot go on fetching ${this.descriptor.digest}: the work was cancelled` });
      this.#came += chunk.byteLength;
      this.#wake();
      yield chunk;
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
