import type { ByteCounters, ByteStream } from '../core/index.js';

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A body that can be sent again from its beginning, after a redirect or a renewed login. Without `size` it goes out in HTTP chunks. */
export interface HttpBody {
  readonly size?: number;
  open(): Promise<ByteStream>;
}

/** One request. Header names are in lower case. */
export interface HttpRequest {
  readonly method: HttpMethod;
  /** Absolute, http or https, without user information. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Value of the Authorization header: a secret that goes to the origin of `url` (scheme, host and port) and nowhere else. */
  readonly authorization?: string | undefined;
  readonly body?: HttpBody | undefined;
  /** How many bytes the answer is expected to hold: long ones come straight from the socket. */
  readonly expectedBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** URL of the server whose answer named this address; private addresses are refused unless that server's own is private. */
  readonly foundAt?: string | undefined;
}

/** An answer whose body is still to come: read it to its end, or `drop` it. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; what stands there several times is joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the answer came from in the end, after redirects. */
  readonly url: string;
  /**
   * The bytes as they are on the wire (`accept-encoding: identity` is always sent). Throws `registry/interrupted` when they end before
   * their announced length, stall, or the connection breaks.
   */
  readonly body: ByteStream;
  /** Gives up what was not read. May be called at any time, also after the end. */
  drop(): void;
}

/**
 * Sends requests and follows redirects. Any status is an answer; only what kept an answer from coming is thrown: `registry/unreachable`,
 * `registry/interrupted`, `registry/untrusted`, `registry/bad-answer`, `registry/bad-address`, `core/cancelled`. Nothing is tried again here.
 */
export interface HttpClient {
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Lets idle connections go, so that the process can end. */
  close(): void;
}

export interface HttpOptions {
  /** For the proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `requests`, `sent` and `received` are counted here, bodies only. */
  readonly counters: ByteCounters;
  readonly tls: TlsOptions;
  readonly timeouts?: Timeouts;
}

/** PEM texts, not paths. */
export interface TlsOptions {
  /** No certificate is checked. */
  readonly insecure?: boolean;
  /** Trusted beside those of the system. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** In milliseconds. */
export interface Timeouts {
  /** Name look-up, connecting, and the TLS handshake together. */
  readonly connect: number;
  /** Without a single byte in either direction, also while waiting for the answer. */
  readonly stall: number;
}
