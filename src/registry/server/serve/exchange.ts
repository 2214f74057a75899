import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RegistryHandler, RegistryRequest, RegistryResponse } from '../http.js';
import { Refusal, toAnswer } from '../refusal.js';
import type { Connection } from './connection.js';
import { drain } from './drain.js';
import { IncomingBody } from './incoming-body.js';
import { Interruption } from './interruption.js';
import { sendResponse } from './send-response.js';
import type { ServeLimits } from './serve-limits.js';

export interface ExchangeSettings {
  readonly handler: RegistryHandler;
  readonly limits: ServeLimits;
  readonly isSecure: boolean;
  /** No further requests are wanted on any connection. */
  readonly isClosing: () => boolean;
  /** Told what is no client's fault. */
  readonly announce: (problem: string) => void;
}

/** What becomes of a body that nobody has read to its end. */
type Rest = { readonly kind: 'none' } | { readonly kind: 'close' } | { readonly kind: 'drain' | 'linger'; readonly bytes: number };

/** One request and its answer. */
export class Exchange {
  readonly #settings: ExchangeSettings;
  readonly #connection: Connection;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #body: IncomingBody;
  readonly #waitsForContinue: boolean;
  readonly #isUnderstood: boolean;
  readonly #gone = new Interruption();
  readonly #abort = new AbortController();

  /** `waitsForContinue`: the client sends its body only once it was told to. */
  constructor(settings: ExchangeSettings, connection: Connection, message: IncomingMessage, response: ServerResponse, waitsForContinue: boolean) {
    this.#settings = settings;
    this.#connection = connection;
    this.#message = message;
    this.#response = response;
    this.#waitsForContinue = waitsForContinue;
    const { host } = message.headers;
    // Several are joined by a comma, and none of them can be believed. (RFC 9112, 3.2)
    this.#isUnderstood = message.httpVersion === '1.1' && host !== undefined && !host.includes(',');
    this.#body = new IncomingBody(message, connection.watch, () => {
      if (waitsForContinue && !response.headersSent) response.writeContinue();
    });
  }

  /** Never throws. Resolves when the system has taken the answer, or the client is gone. */
  async run(): Promise<void> {
    this.#connection.tellGone(() => {
      this.#gone.end();
      this.#abort.abort();
      this.#body.fail(undefined);
    });
    try {
      await this.#answer(await this.#ask());
    } catch (error) {
      this.#tell(error);
      this.#connection.socket.destroy();
    } finally {
      this.#connection.tellGone(undefined);
      this.#connection.watch.rest();
    }
  }

  async #ask(): Promise<RegistryResponse> {
    const { method = '', url = '', headers } = this.#message;
    if (!this.#isUnderstood) return toAnswer(new Refusal(400, 'UNSUPPORTED', 'Expected HTTP/1.1 and one Host field'), { endpoint: 'unknown' });
    const request: RegistryRequest = {
      method,
      target: url,
      headers: headers as RegistryRequest['headers'],
      body: this.#body.read(),
      signal: this.#abort.signal,
      client: { address: this.#connection.address, isSecure: this.#settings.isSecure },
    };
    try {
      return await this.#settings.handler(request);
    } catch (error) {
      return this.#fail(error);
    }
  }

  async #answer(answer: RegistryResponse): Promise<void> {
    if (this.#gone.isOver) return;
    const rest = this.#judgeRest();
    const isOver = rest.kind === 'close' || rest.kind === 'linger' || this.#body.isLast;
    const isLast = isOver || !this.#isUnderstood || this.#settings.isClosing();
    await this.#send(answer, isLast, rest.kind === 'none' || rest.kind === 'close');
    if (rest.kind === 'drain' || rest.kind === 'linger') {
      if (!this.#response.headersSent) this.#response.flushHeaders();
      const isDone = await drain(this.#body, rest.bytes, this.#settings.limits.lingerMs, this.#gone);
      if (!isDone && !isLast) return void this.#connection.socket.destroy();
    }
    await this.#end();
  }

  async #send(answer: RegistryResponse, isLast: boolean, endsAtOnce: boolean): Promise<void> {
    const outgoing = {
      response: this.#response,
      watch: this.#connection.watch,
      gone: this.#gone,
      method: this.#message.method ?? '',
      isLast,
      endsAtOnce,
    };
    try {
      await sendResponse(outgoing, answer);
    } catch (error) {
      if (this.#response.headersSent) throw error;
      await sendResponse(outgoing, this.#fail(error));
    }
  }

  async #end(): Promise<void> {
    const response = this.#response;
    if (!response.writableEnded) response.end();
    if (response.writableFinished) return;
    this.#connection.watch.expect(response.writableLength);
    await this.#gone.wait(new Promise<true>((resolve) => response.once('finish', () => resolve(true))));
    // Node waits for the next request with a time of its own.
    this.#connection.watch.leave();
  }

  #judgeRest(): Rest {
    const { spareBytes, lingerBytes } = this.#settings.limits;
    const { left } = this.#body;
    if (this.#body.isComplete) return { kind: 'none' };
    // It may come or not; the next request could not be told from it.
    if (this.#waitsForContinue && !this.#body.isAsked) return { kind: 'close' };
    return left !== undefined && left <= spareBytes ? { kind: 'drain', bytes: left } : { kind: 'linger', bytes: lingerBytes };
  }

  #fail(error: unknown): RegistryResponse {
    this.#tell(error);
    return toAnswer(new Refusal(500, 'UNKNOWN', 'The registry could not do this: its own log says why'), { endpoint: 'unknown' });
  }

  #tell(error: unknown): void {
    if (this.#gone.isOver) return;
    this.#settings.announce(`Cannot answer ${this.#message.method}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
