import type { Answer, Exchange, Wire } from '../exchange.js';
import { ConnectionPool } from './connection-pool.js';
import { FastConnection } from './fast-connection.js';
import { FastExchange, type FastOutcome } from './fast-exchange.js';

/** Below it node:http is as fast. */
const longBytes = 1024 * 1024;

/**
 * Long answers straight from the socket into large buffers: through node:http they cost 1.6 to 1.9 times as much as in curl. Whatever is
 * not a plain answer of known length is left to node:http.
 */
export class FastLane {
  readonly #wire: Wire;
  readonly #pool = new ConnectionPool();
  /** Origins that answered otherwise: their requests would all go out twice. */
  readonly #avoided = new Set<string>();
  #isClosed = false;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  takes({ method, body, expectedBytes, url }: Exchange): boolean {
    return method === 'GET' && body === undefined && expectedBytes >= longBytes && !this.#avoided.has(url.origin);
  }

  /** Undefined when the answer has to be asked for again, over node:http. */
  async send(exchange: Exchange): Promise<Answer | undefined> {
    this.#wire.counters.requests++;
    const key = `${exchange.url.origin} ${exchange.reach}`;
    const kept = this.#pool.take(key);
    const first = kept === undefined ? 'stale' : await this.#attempt(exchange, key, kept, true);
    const answer = first === 'stale' ? await this.#attempt(exchange, key, await FastConnection.open(exchange, this.#wire), false) : first;
    if (answer !== undefined && answer !== 'stale') return answer;
    this.#avoided.add(exchange.url.origin);
    return undefined;
  }

  #attempt(exchange: Exchange, key: string, connection: FastConnection, wasKept: boolean): Promise<FastOutcome> {
    const release = () => (this.#isClosed ? connection.destroy() : this.#pool.give(key, connection));
    return new FastExchange(exchange, this.#wire, connection, release).run(wasKept);
  }

  close(): void {
    this.#isClosed = true;
    this.#pool.close();
  }
}
