import { headBytes } from '../exchange.js';
import { BodyQueue } from './body-queue.js';
import { type AnswerHead, parseHead } from './parse-head.js';

export interface ReadAnswer {
  readonly head: AnswerHead;
  readonly body: BodyQueue;
}

export interface ReaderEvents {
  /** Undefined when the head is for another parser. */
  onHead(answer: ReadAnswer | undefined): void;
  /** There is room for more after `take` gave false. */
  onRoom(): void;
  /** All of the body is there; `isUsable` when the connection is good for another request. */
  onEnd(isUsable: boolean): void;
}

const headEnd = Buffer.from('\r\n\r\n');

/** Reads one answer from bytes as they come. */
export class AnswerReader {
  readonly #events: ReaderEvents;
  #head: Buffer = Buffer.alloc(0);
  #interimBytes = 0;
  #body: BodyQueue | undefined;
  #isKept = false;

  constructor(events: ReaderEvents) {
    this.#events = events;
  }

  /** Where the next bytes go; undefined while they do not belong to the body. */
  room(): Uint8Array | undefined {
    return this.#body === undefined || this.#body.left === 0 ? undefined : this.#body.room();
  }

  /** Bytes that stand where `room` said, or anywhere when it said nothing. False when the reader is behind. */
  take(bytes: Uint8Array): boolean {
    if (this.#body === undefined) return this.#takeHead(bytes);
    const goesOn = this.#body.take(bytes.byteLength);
    if (this.#body.left === 0) this.#events.onEnd(this.#isKept);
    return goesOn;
  }

  fail(error: Error): void {
    this.#body?.fail(error);
  }

  #takeHead(bytes: Uint8Array): boolean {
    const searched = Math.max(0, this.#head.byteLength - headEnd.byteLength + 1);
    this.#head = Buffer.concat([this.#head, bytes]);
    let end = this.#head.indexOf(headEnd, searched);
    while (end !== -1 && this.#interimBytes + end <= headBytes) {
      const parsed = parseHead(this.#head.toString('latin1', 0, end));
      this.#head = this.#head.subarray(end + headEnd.byteLength);
      if (parsed.kind === 'final') return this.#begin(parsed.head);
      if (parsed.kind === 'other') return this.#refuse();
      this.#interimBytes += end;
      end = this.#head.indexOf(headEnd);
    }
    return this.#interimBytes + this.#head.byteLength <= headBytes || this.#refuse();
  }

  #refuse(): false {
    this.#events.onHead(undefined);
    return false;
  }

  /** What came with the head is the beginning of the body, and less than a buffer of it. */
  #begin(head: AnswerHead): boolean {
    const body = new BodyQueue(head.length, () => this.#events.onRoom());
    this.#body = body;
    this.#isKept = head.isKept;
    const rest = this.#head;
    const first = rest.subarray(0, head.length);
    for (let done = 0; done < first.byteLength;) {
      const room = body.room();
      const piece = first.subarray(done, done + room.byteLength);
      room.set(piece);
      body.take(piece.byteLength);
      done += piece.byteLength;
    }
    this.#head = Buffer.alloc(0);
    this.#events.onHead({ head, body });
    if (body.left === 0) this.#events.onEnd(head.isKept && rest.byteLength === head.length);
    return true;
  }
}
