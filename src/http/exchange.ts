import type { ByteCounters, ByteStream } from '../core/index.js';
import type { HttpBody, HttpMethod, Timeouts } from './http.js';
import type { Reach, ReachPolicy } from './reach.js';
import type { TlsSettings } from './tls-settings.js';

/** One request on the wire; what redirects and policies have to say is decided. */
export interface Exchange {
  readonly method: HttpMethod;
  readonly url: URL;
  /** All of them but what frames the body and the connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: HttpBody | undefined;
  readonly expectedBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly reach: Reach;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ByteStream;
  readonly drop: () => void;
  /** Drops, and waits until the connection serves again where that takes no time. */
  free(): Promise<void>;
}

/** What the exchanges of one client share. */
export interface Wire {
  readonly counters: ByteCounters;
  readonly timeouts: Timeouts;
  readonly policy: ReachPolicy;
  tls(): Promise<TlsSettings>;
}

/** Beyond it a head is refused; signed addresses and long challenges take some of it. */
export const headBytes = 32 * 1024;

/** An idle connection is closed after this many milliseconds: before the first servers do it, so that none is closed under a request. */
export const idleTime = 4000;

/** Names in lower case; what stands there several times is joined. (RFC 9110, 5.3) */
export function joinHeaders(pairs: Iterable<readonly [name: string, value: string]>): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const [name, value] of pairs) {
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}
