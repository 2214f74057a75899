import type { IncomingMessage } from 'node:http';
import { type ByteStream, createError } from '../../../core/index.js';
import { type DirectLane, findLane, nowhere } from './direct-lane.js';
import { GatheredBytes, isBulk } from './gathered-bytes.js';
import type { PeerWatch } from './peer-watch.js';

/** From here on a body is read past the parser. The connection ends with it, and a new one takes the time of some hundred kilobytes. */
const longBytes = 4 * 1024 * 1024;

/** Where the bytes come from. */
interface Inlet {
  start(): void;
  resume(): void;
  stop(): void;
}

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
  #lane: DirectLane | undefined;
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

  /** The connection is of no further use. */
  get isLast(): boolean {
    return this.#lane !== undefined;
  }

  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** All of it came. */
  get isComplete(): boolean {
    if (this.#lane !== undefined) return this.#received >= (this.length ?? 0);
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
    const bytes = isBulk(this.length) ? new GatheredBytes() : new Pieces();
    const inlet = bytes instanceof GatheredBytes && isLong(this.length) ? this.#openLane(bytes) : this.#openMessage(bytes);
    let isDone = false;
    try {
      this.#onAsked();
      inlet.start();
      for (let chunk = await this.#next(bytes); chunk !== undefined; chunk = await this.#next(bytes)) {
        inlet.resume();
        yield chunk;
      }
      if (bytes.last !== undefined) yield bytes.last;
      isDone = true;
    } finally {
      inlet.stop();
      bytes.end(isDone);
      this.#watch.rest();
    }
  }

  /** What nobody has read goes nowhere. */
  flow(onBytes: (count: number) => void, onEnd: () => void): void {
    const message = this.#message;
    if (this.#lane === undefined) {
      message.on('end', onEnd).on('data', (piece: Buffer) => onBytes(piece.byteLength));
      message.resume();
      if (message.complete && message.readableEnded) onEnd();
    } else {
      const take = (count: number) => {
        this.#received += count;
        onBytes(count);
        if (this.isComplete) onEnd();
        return true;
      };
      this.#lane.begin({ space: nowhere, take });
      this.#lane.resume();
    }
  }

  #openMessage(bytes: GatheredBytes | Pieces): Inlet {
    const message = this.#message;
    const onData = (piece: Buffer) => {
      bytes.add(piece);
      this.#note(piece.byteLength);
      if (bytes.isFull) message.pause();
      if (!bytes.isEmpty) this.#wake();
    };
    const onEnd = () => this.#wake();
    return {
      start: () => void message.on('data', onData).once('end', onEnd),
      resume: () => void message.resume(),
      stop: () => void message.off('data', onData).off('end', onEnd).pause(),
    };
  }

  #openLane(bytes: GatheredBytes): Inlet {
    const lane = findLane(this.#message.socket);
    if (lane === undefined) return this.#openMessage(bytes);
    this.#lane = lane;
    const take = (count: number, copied: Uint8Array | undefined) => {
      if (copied === undefined) bytes.filled(count);
      else bytes.add(copied);
      this.#note(count);
      if (this.isComplete) bytes.flush();
      if (!bytes.isEmpty) this.#wake();
      return !this.isComplete && !bytes.isFull;
    };
    const resume = () => {
      if (!this.isComplete && !bytes.isFull) lane.resume();
    };
    return {
      start: () => {
        lane.begin({ space: () => (this.isComplete ? nowhere() : bytes.space(this.left ?? 0)), take });
        for (let piece = this.#readParsed(); piece !== null; piece = this.#readParsed()) take(piece.byteLength, piece);
        resume();
      },
      resume,
      stop: () => lane.end(),
    };
  }

  /** What came behind the head before the parser was passed by. */
  #readParsed(): Buffer | null {
    return this.#message.read() as Buffer | null;
  }

  #note(count: number): void {
    this.#received += count;
    this.#watch.progress(count);
  }

  get #isOver(): boolean {
    return this.#lane === undefined ? this.#message.readableEnded : this.isComplete;
  }

  async #next(bytes: GatheredBytes | Pieces): Promise<Uint8Array | undefined> {
    while (bytes.isEmpty && !this.#isOver && this.#failure === undefined) {
      this.#watch.expect();
      await new Promise<void>((resolve) => (this.#wake = resolve));
      this.#watch.rest();
    }
    if (bytes.isEmpty) bytes.flush();
    const next = bytes.take();
    if (next === undefined && this.#failure !== undefined && !this.#isOver) throw this.#failure;
    return next;
  }
}

/** Worth a connection of its own, as an answer after which it is closed. */
function isLong(length: number | undefined): boolean {
  return length !== undefined && length >= longBytes;
}
