import type { ByteStream } from '../../core/index.js';
import { seconds } from '../duration.js';
import type { Answer, Exchange, Wire } from '../exchange.js';
import { onAbort } from '../on-abort.js';
import { cancelled, interrupted, toTransportError } from '../transport-error.js';
import { AnswerReader, type ReadAnswer } from './answer-reader.js';
import type { FastConnection } from './fast-connection.js';

/** Undefined when the answer is for another parser, `stale` when a kept connection turned out to be closed before a byte came. */
export type FastOutcome = Answer | 'stale' | undefined;

/** One GET on one connection. */
export class FastExchange {
  readonly #exchange: Exchange;
  readonly #wire: Wire;
  readonly #connection: FastConnection;
  readonly #release: () => void;
  #endAbort = () => {};
  /** The connection is no longer ours. */
  #isOver = false;
  #isDropped = false;

  /** `release` takes the connection after an answer that left it usable. */
  constructor(exchange: Exchange, wire: Wire, connection: FastConnection, release: () => void) {
    this.#exchange = exchange;
    this.#wire = wire;
    this.#connection = connection;
    this.#release = release;
  }

  run(wasKept: boolean): Promise<FastOutcome> {
    const { signal } = this.#exchange;
    const { stall } = this.#wire.timeouts;
    const connection = this.#connection;
    return new Promise((resolve, reject) => {
      const reader = new AnswerReader({
        onHead: (read) => {
          if (read === undefined) this.#end(false);
          resolve(read === undefined ? undefined : this.#toAnswer(read));
        },
        onRoom: () => this.#isOver || connection.resume(),
        onEnd: (isUsable) => this.#end(isUsable),
      });
      const onClosed = (error: unknown) => {
        this.#end(false);
        if (wasKept && !connection.hasAnswered && signal?.aborted !== true) return resolve('stale');
        const mapped = toTransportError(error, this.#exchange);
        reader.fail(mapped);
        reject(mapped);
      };
      this.#endAbort = onAbort(signal, () => signal !== undefined && connection.destroy(cancelled(signal)));
      const onStall = () => connection.destroy(interrupted(this.#exchange, `no byte came for ${seconds(stall)}`));
      connection.ask(toHead(this.#exchange), { reader, stall, onStall, onClosed });
    });
  }

  #end(isUsable: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endAbort();
    if (isUsable) this.#release();
    else this.#connection.destroy();
  }

  #toAnswer({ head, body }: ReadAnswer): Answer {
    const drop = () => {
      this.#isDropped = true;
      body.giveUp();
      this.#end(false);
    };
    return { status: head.status, headers: head.headers, body: this.#read(body.read()), drop, free: async () => drop() };
  }

  async *#read(chunks: ByteStream): ByteStream {
    try {
      this.#assertWanted();
      for await (const chunk of chunks) {
        this.#wire.counters.received += chunk.byteLength;
        yield chunk;
        this.#assertWanted();
      }
    } finally {
      this.#end(false);
    }
  }

  /** Reading on after `drop` must not look like the end. */
  #assertWanted(): void {
    if (this.#isDropped) throw interrupted(this.#exchange, 'the rest of the answer was given up');
  }
}

function toHead({ url, headers }: Exchange): string {
  const lines = Object.entries({ host: url.host, ...headers, connection: 'keep-alive' }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
