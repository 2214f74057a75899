import { createError, isToolkitError, type ToolkitError } from '../core/index.js';
import { assertSecure, parseFileUrl, showUrl } from './file-url.js';
import type { HttpClient, HttpResponse } from './http.js';
import { isPassing, isPassingError, parseRetryAfter, type RetryPolicy, toDelay, wait } from './retry.js';

export interface FileAccessOptions {
  readonly client: HttpClient;
  /** Without TLS, also to hosts that are not this machine. */
  readonly plainHttp?: boolean | undefined;
  readonly retry?: RetryPolicy | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Less patient than with a registry: there may be another URL to try. */
const fileRetry: RetryPolicy = { attempts: 4, first: 250, longest: 4000, longestAsked: 30_000 };

/** What is said of a status that is no answer; `hint` is what to do then. */
const refusals: Readonly<Record<number, { readonly reason: string; readonly hint: string }>> = {
  401: {
    reason: 'the server asks for a login',
    hint: 'modelport logs in to registries only: use a signed address, or download the file and name it',
  },
  403: { reason: 'the server does not allow it', hint: 'A signed address may be over: get a new one, or download the file and name it' },
  404: { reason: 'there is no such file', hint: 'Check the address' },
  410: { reason: 'the file is there no more', hint: 'Look for another address of it' },
};

/** GET requests for one URL, tried again while what is wrong may pass. All errors are `http/…` and name the address without its query. */
export class FileRequests {
  /** The address for messages. */
  readonly shown: string;
  readonly retry: RetryPolicy;
  readonly #url: URL;
  readonly #options: FileAccessOptions;
  #wasReached = false;

  /** Throws `http/unreachable-file` for an address that may not be asked. */
  constructor(url: string, options: FileAccessOptions) {
    this.#options = options;
    this.#url = parseFileUrl(url, options.plainHttp === true);
    this.shown = showUrl(url);
    this.retry = options.retry ?? fileRetry;
  }

  /** An answer with one of the statuses, whose body is to be read or dropped. */
  async get(headers: Readonly<Record<string, string>>, accepts: readonly number[], expectedBytes: number): Promise<HttpResponse> {
    for (let attempt = 1; ; attempt++) {
      const isLast = attempt >= this.retry.attempts;
      const answer = await this.#attempt(headers, expectedBytes, isLast);
      if (answer !== undefined && accepts.includes(answer.status)) return this.#accept(answer);
      answer?.drop();
      if (answer !== undefined && (isLast || !isPassing(answer.status))) throw this.#refused(answer.status);
      await this.pause(attempt + 1, answer);
    }
  }

  async #attempt(headers: Readonly<Record<string, string>>, expectedBytes: number, isLast: boolean): Promise<HttpResponse | undefined> {
    const { client, signal } = this.#options;
    try {
      const answer = await client.send({ method: 'GET', url: this.#url.href, headers, expectedBytes, signal });
      this.#wasReached = true;
      return answer;
    } catch (error) {
      if (isLast || !isPassingError(error, this.#wasReached)) throw this.toError(error);
      return undefined;
    }
  }

  #accept(answer: HttpResponse): HttpResponse {
    try {
      assertSecure(new URL(answer.url), this.#options.plainHttp === true);
      return answer;
    } catch (error) {
      answer.drop();
      throw error;
    }
  }

  /** Before try number `attempt`; as long as an answer asks for, if that is worth it. */
  async pause(attempt: number, answer?: HttpResponse): Promise<void> {
    const asked = parseRetryAfter(answer?.headers['retry-after'], Date.now());
    if (asked !== undefined && asked > this.retry.longestAsked) {
      const limit = this.retry.longestAsked / 1000;
      throw this.#fail(
        `the server answered ${answer?.status ?? 0} and asks to wait ${Math.ceil(asked / 1000)} s, at most ${limit} s are waited`,
        'Try again later',
      );
    }
    await wait(asked ?? toDelay(attempt, this.retry), this.#options.signal);
  }

  #refused(status: number): Error {
    const { reason, hint } = refusals[status] ?? { reason: 'the server refuses', hint: 'Try again later, or download the file and name it' };
    return this.#fail(`${reason} (it answered ${status})`, hint);
  }

  /** What requests and bodies throw → an error about this file. Those that are not about the transport pass unchanged. */
  toError(error: unknown): unknown {
    if (!isToolkitError(error) || !error.code.startsWith('registry/')) return error;
    return this.#fail(reasonOf(error), hintOf(error), error);
  }

  #fail(reason: string, hint: string, cause?: unknown): Error {
    return createError('http/unreachable-file', { message: `Cannot fetch "${this.shown}": ${reason}`, hint, where: this.shown, cause });
  }
}

/** Without the "Cannot …" of a request, when it is about nothing but this file. */
function reasonOf({ code, message }: ToolkitError): string {
  return code === 'registry/untrusted' ? message.replace(/^Cannot/, 'cannot') : message.replace(/^Cannot [^"]*"[^"]*": /, '');
}

function hintOf({ code, hint }: ToolkitError): string {
  const isOurs = code === 'registry/untrusted' || code === 'registry/unreachable';
  return isOurs && hint !== undefined ? hint : 'Try again, or download the file and name it';
}
