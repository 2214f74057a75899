import { connect as connectNet, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { seconds } from '../duration.js';
import { type Exchange, idleTime, type Wire } from '../exchange.js';
import { hostOf, portOf } from '../http-url.js';
import { onAbort } from '../on-abort.js';
import { cancelled, toTransportError, unreachableError } from '../transport-error.js';
import type { AnswerReader } from './answer-reader.js';

/** Where bytes go that are not of a body: a head, and what came with it. */
const landingBytes = 16 * 1024;

/** What becomes of a request. */
export interface Question {
  readonly reader: AnswerReader;
  /** Milliseconds that the server may be silent while it is waited for. */
  readonly stall: number;
  onStall(): void;
  /** The connection is gone; not called once it rests. */
  onClosed(error: unknown): void;
}

/** A connection that receives straight into the buffers of the body, for one answer after the other. */
export class FastConnection {
  readonly #landing = Buffer.allocUnsafeSlow(landingBytes);
  readonly #socket: Socket;
  #question: Question | undefined;
  #onClosed: ((error: unknown) => void) | undefined;
  #error: unknown;
  #hasAnswered = false;

  private constructor(open: (onread: OnReadOpts) => Socket) {
    this.#socket = open({
      buffer: () => this.#question?.reader.room() ?? this.#landing,
      callback: (count, buffer) => this.#receive(buffer.subarray(0, count)),
    });
    this.#socket.on('error', (error) => (this.#error ??= error));
    // A server that says no more is of no more use.
    this.#socket.once('end', () => this.#socket.destroy());
    this.#socket.once('close', () => this.#onClosed?.(this.#error));
    this.#socket.on('timeout', () => (this.#question === undefined ? this.#socket.destroy() : this.#question.onStall()));
  }

  /** Looking up, connecting, and the TLS handshake. */
  static async open(exchange: Exchange, wire: Wire): Promise<FastConnection> {
    const { url, signal, reach } = exchange;
    const isSecure = url.protocol === 'https:';
    const target = { host: hostOf(url), port: portOf(url), lookup: wire.policy.createLookup(reach), noDelay: true };
    const servername = isIP(target.host) === 0 ? { servername: target.host } : {};
    const tls = isSecure ? { ...target, ...servername, ...(await wire.tls()), ALPNProtocols: ['http/1.1'] } : undefined;
    if (signal?.aborted === true) throw cancelled(signal);
    const connection = new FastConnection((onread) => {
      if (tls === undefined) return connectNet({ ...target, onread });
      // The types do not know that it is passed on to the socket.
      const options: ConnectionOptions & { onread: OnReadOpts } = { ...tls, onread };
      return connectTls(options);
    });
    await connection.#connected(exchange, wire.timeouts.connect, isSecure ? 'secureConnect' : 'connect');
    wire.policy.note(url, connection.#socket.remoteAddress);
    return connection;
  }

  #connected(exchange: Exchange, ms: number, event: 'connect' | 'secureConnect'): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = exchange;
      const give = (error: unknown) => this.destroy(error);
      const timer = setTimeout(() => give(unreachableError(exchange, `no connection within ${seconds(ms)}`, 'Check the network')), ms);
      const endAbort = onAbort(signal, () => signal !== undefined && give(cancelled(signal)));
      const end = () => {
        clearTimeout(timer);
        endAbort();
        this.#onClosed = undefined;
      };
      this.#onClosed = (error) => {
        end();
        reject(toTransportError(error, exchange));
      };
      this.#socket.once(event, () => {
        end();
        resolve();
      });
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  /** Whether a byte came since the last request. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** Sends a request; what comes goes to its reader until the connection rests. */
  ask(head: string, question: Question): void {
    this.#question = question;
    this.#onClosed = (error) => question.onClosed(error);
    this.#hasAnswered = false;
    if (!this.isOpen) return process.nextTick(() => question.onClosed(this.#error));
    this.#socket.ref();
    this.#socket.setTimeout(question.stall);
    this.#socket.write(head, 'latin1');
  }

  #receive(bytes: Uint8Array): boolean {
    const question = this.#question;
    this.#hasAnswered = true;
    if (question === undefined) {
      this.destroy();
      return false;
    }
    const goesOn = question.reader.take(bytes) || this.#question !== question;
    // The time that we take ourselves does not count.
    if (!goesOn) this.#socket.setTimeout(0);
    return goesOn;
  }

  /** Goes on after the reader was behind. */
  resume(): void {
    this.#socket.setTimeout(this.#question?.stall ?? idleTime);
    this.#socket.resume();
  }

  /** Until the next request, or until it is closed for being idle; the process need not wait for it. */
  rest(): void {
    this.#question = undefined;
    this.#onClosed = undefined;
    this.resume();
    this.#socket.unref();
  }

  destroy(error?: unknown): void {
    this.#error ??= error;
    this.#socket.destroy();
  }
}
