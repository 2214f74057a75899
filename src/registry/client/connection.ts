import { createError, isToolkitError } from '../../core/index.js';
import type { Authorizer, Scope } from './auth/auth.js';
import { readRefusal, toRefusalError } from './answer.js';
import { type RegistryAddress, toLocation } from './address.js';
import {
  type HttpBody,
  type HttpClient,
  type HttpMethod,
  type HttpRequest,
  type HttpResponse,
  isPassing,
  isPassingError,
  parseRetryAfter,
  type RetryPolicy,
  toDelay,
  wait,
} from '../../http/index.js';
import { parseWarnings } from './warnings.js';

/** One call of the API. */
export interface ApiCall {
  /** Completes "Cannot …" in errors. */
  readonly action: string;
  readonly method: HttpMethod;
  /** Below the registry (`/v2/…`), or a whole URL that it gave. */
  readonly target: string;
  readonly scopes: readonly Scope[];
  /** Statuses that the caller deals with; every other one is thrown. */
  readonly accepts: readonly number[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: HttpBody;
  readonly expectedBytes?: number;
  /** False for a caller that knows better how to go on after a failure. A login is renewed all the same. */
  readonly tries?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Whoever says more has a fault. */
const mostWarnings = 100;

/** One registry: its address, its login, and trying again. Shared by everything that talks to it. */
export class Connection {
  readonly address: RegistryAddress;
  readonly retry: RetryPolicy;
  readonly #http: HttpClient;
  readonly #authorizer: Authorizer;
  readonly #warn: (text: string) => void;
  readonly #warned = new Set<string>();
  #wasReached = false;
  /** Whether the registry ever asked for a login. */
  wasChallenged = false;

  constructor(address: RegistryAddress, http: HttpClient, authorizer: Authorizer, retry: RetryPolicy, warn: (text: string) => void) {
    this.address = address;
    this.retry = retry;
    this.#http = http;
    this.#authorizer = authorizer;
    this.#warn = warn;
  }

  /** An answer with one of the accepted statuses, whose body is still to be read or dropped. */
  async call(call: ApiCall): Promise<HttpResponse> {
    for (let attempt = 1; ; attempt++) {
      const isLast = call.tries === false || attempt >= this.retry.attempts;
      const answer = await this.#attempt(call, isLast);
      if (answer !== undefined && (call.accepts.includes(answer.status) || isLast || !isPassing(answer.status))) return this.#accept(call, answer);
      await wait(answer === undefined ? toDelay(attempt + 1, this.retry) : this.#delayAfter(call, answer, attempt + 1), call.signal);
    }
  }

  /** Undefined when it broke and may be tried again. */
  async #attempt(call: ApiCall, isLast: boolean): Promise<HttpResponse | undefined> {
    try {
      const response = await this.#sendLoggedIn(call);
      this.#wasReached = true;
      return response;
    } catch (error) {
      if (isLast || !isPassingError(error, this.#wasReached)) throw this.#explain(error);
      return undefined;
    }
  }

  /** A server that speaks TLS only breaks off what is not. */
  #explain(error: unknown): unknown {
    if (this.#wasReached || !isToolkitError(error, 'registry/interrupted') || !this.address.origin.startsWith('http://')) return error;
    const { message, where } = error;
    const hint = 'If the registry speaks TLS, add --ca-file FILE or --insecure; a host of this machine is spoken to without TLS else';
    return createError('registry/interrupted', { message, hint, where, cause: error });
  }

  async #accept(call: ApiCall, response: HttpResponse): Promise<HttpResponse> {
    for (const text of parseWarnings(response.headers['warning'])) this.#warnOnce(text);
    if (call.accepts.includes(response.status)) return response;
    throw toRefusalError(call.action, await readRefusal(response), this.address);
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text) || this.#warned.size >= mostWarnings) return;
    this.#warned.add(text);
    this.#warn(text);
  }

  /** What the registry asks for, if it is worth waiting for. */
  #delayAfter(call: ApiCall, response: HttpResponse, attempt: number): number {
    response.drop();
    const asked = parseRetryAfter(response.headers['retry-after'], Date.now());
    if (asked === undefined) return toDelay(attempt, this.retry);
    if (asked <= this.retry.longestAsked) return asked;
    throw createError('registry/busy', {
      message: `Cannot ${call.action}: ${this.address.host} answered ${response.status} and asks to wait ${Math.ceil(asked / 1000)} s, at most ${this.retry.longestAsked / 1000} s are waited`,
      hint: 'Run the same command again later: it goes on where it stopped',
      where: this.address.host,
    });
  }

  /** Renews the login once: a second refusal is the answer. */
  async #sendLoggedIn(call: ApiCall): Promise<HttpResponse> {
    const url = this.#toUrl(call);
    const isOwn = this.#owns(url);
    const used = isOwn ? await this.#authorizer.authorize(call.scopes, call.signal) : undefined;
    const response = await this.#http.send(this.#toRequest(call, url, used));
    const header = response.headers['www-authenticate'];
    // Storage that a redirect led to has no say in logins.
    if (response.status !== 401 || header === undefined || !isOwn || !this.#owns(response.url)) return response;
    response.drop();
    this.wasChallenged = true;
    if (!(await this.#authorizer.challenge(header, call.scopes, used, call.signal))) throw this.#loginError(call, used !== undefined);
    const renewed = await this.#authorizer.authorize(call.scopes, call.signal);
    return this.#http.send(this.#toRequest(call, url, renewed));
  }

  #owns(url: string): boolean {
    return url.startsWith(`${this.address.origin}/`);
  }

  #toUrl({ target }: ApiCall): string {
    return target.startsWith('/') ? `${this.address.origin}${target}` : target;
  }

  #toRequest({ method, headers = {}, body, expectedBytes, signal }: ApiCall, url: string, authorization: string | undefined): HttpRequest {
    return { method, url, headers, authorization, body, expectedBytes, signal, foundAt: this.address.origin };
  }

  #loginError(call: ApiCall, wasLoggedIn: boolean): Error {
    const { host } = this.address;
    return createError('registry/login', {
      message: `Cannot ${call.action}: ${host} ${wasLoggedIn ? 'does not accept the login that it got' : 'asks for a login, and there is none'}`,
      hint: `Log in: \`modelport login ${host}\``,
      where: host,
    });
  }

  /** The Location of an answer; it may be relative, and belongs to this registry unless it names another host. */
  locationOf(response: HttpResponse, action: string): string {
    const location = response.headers['location'] ?? '';
    const base = URL.canParse(response.url) ? response.url : this.address.origin;
    if (location === '' || !URL.canParse(location, base)) {
      throw createError('registry/bad-answer', {
        message: `Cannot ${action}: ${this.address.host} answered ${response.status} without a usable Location`,
        where: this.address.host,
      });
    }
    const found = toLocation(location, base, this.address);
    const isSafe = found.startsWith('https://') || (found.startsWith('http://') && this.address.origin.startsWith('http://'));
    if (isSafe && new URL(found).username === '') return found;
    throw createError('registry/bad-address', {
      message: `Cannot ${action}: ${this.address.host} sends the bytes to ${new URL(found).protocol}//${new URL(found).host}, which is not safe`,
      hint: 'Ask whoever runs the registry: its address for uploads must be https',
      where: this.address.host,
    });
  }
}
