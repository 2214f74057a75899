import type { IncomingMessage } from 'node:http';
import { type ByteStream, createError } from '../../../core/index.js';
import { GatheredBytes, isBulk } from './gathered-bytes.js';
import type { PeerWatch } from './peer-watch.js';

/** Pieces of a small body, as Node gives them: each is a buffer of its own. */
class Pieces {
  readonly #ready: Uint8Array[] = [];
  readonly isFull = false;
  readonly last = undefined;

  get isEmpty(): boolean {
    return this.#ready.length === 0;
  }

  add(piece: Uint8Array): void {
    this.#ready.push(piece);
  }

  take(): Uint8Array | undefined {
    return this.#ready.shift();
  }

  flush(): void {}

  end(): void {}
}

/** The body of one request, between its message and one reader. */
export class IncomingBody {
  readonly #message: IncomingMessage;
  readonly #watch: PeerWatch;
  readonly #onAsked: () => void;
  /** Undefined when the client does not say it. */
  readonly length: number | undefined;
  /** Whether there is one at all. */
  readonly exists: boolean;
  #received = 0;
  #isAsked = false;
  #failure: Error | undefined;
  #wake = () => {};

  /** `onAsked` is called once somebody wants to read it. */
  constructor(message: IncomingMessage, watch: PeerWatch, onAsked: () => void) {
    const { 'content-length': length, 'transfer-encoding': encoding } = message.headers;
    this.#message = message;
    this.#watch = watch;
    this.#onAsked = onAsked;
    this.length = encoding === undefined ? Number(length ?? 0) : undefined;
    this.exists = this.length !== 0;
    // A client that goes away is told to the reader by `fail`.
    message.on('error', () => {});
  }

  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** All of it came. */
  get isComplete(): boolean {
    return !this.exists || this.#message.complete;
  }

  /** Bytes that nobody has taken; undefined when only the client knows. */
  get left(): number | undefined {
    return this.length === undefined ? undefined : this.length - this.#received;
  }

  /** The reader gets what has come so far, then the error. */
  fail(cause: unknown): void {
    this.#failure ??= createError('registry/interrupted', { message: 'Cannot receive the body: the client went away before its end', cause });
    this.#wake();
  }

  /** Throws `registry/interrupted`. What is left when the reader stops stays with the client. */
  async *read(): ByteStream {
    if (this.#isAsked) throw createError('core/bug', { message: 'Cannot read a body twice' });
    this.#isAsked = true;
    if (!this.exists) return;
    const message = this.#message;
    const bytes = isBulk(this.length) ? new GatheredBytes() : new Pieces();
    const onData = (piece: Buffer) => {
      this.#received += piece.byteLength;
      this.#watch.progress(piece.byteLength);
      bytes.add(piece);
      if (bytes.isFull) message.pause();
      if (!bytes.isEmpty) this.#wake();
    };
    const onEnd = () => this.#wake();
    let isDone = false;
    try {
      this.#onAsked();
      message.on('data', onData).once('end', onEnd);
      for (let chunk = await this.#next(bytes); chunk !== undefined; chunk = await this.#next(bytes)) {
        message.resume();
        yield chunk;
      }
      if (bytes.last !== undefined) yield bytes.last;
      isDone = true;
    } finally {
      message.off('data', onData).off('end', onEnd).pause();
      bytes.end(isDone);
      this.#watch.rest();
    }
  }

  async #next(bytes: GatheredBytes | Pieces): Promise<Uint8Array | undefined> {
    while (bytes.isEmpty && !this.#message.readableEnded && this.#failure === undefined) {
      this.#watch.expect();
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#watch.rest();
    }
    if (bytes.isEmpty) bytes.flush();
    const next = bytes.take();
    if (next === undefined && this.#failure !== undefined && !this.#message.readableEnded) throw this.#failure;
    return next;
  }
}
