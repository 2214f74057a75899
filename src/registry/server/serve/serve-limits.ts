/** What a connection may cost. Times are milliseconds, sizes bytes. */
export interface ServeLimits {
  /** Request line and header fields together. */
  readonly headerBytes: number;
  /** From the first byte of a head to its last, and for a TLS handshake. */
  readonly headerMs: number;
  /** How often is looked for heads that take too long. */
  readonly headerCheckMs: number;
  /** Without a byte in either direction while it is the client's turn. */
  readonly idleMs: number;
  /** What a body has to come or go at, a second, over every `rateMs` that the client is waited for. A body as a whole may take any time. */
  readonly leastRate: number;
  readonly rateMs: number;
  /** Between two requests. */
  readonly keepAliveMs: number;
  readonly connections: number;
  /** Requests that a client sends ahead on one connection; each waits for the one before. */
  readonly requestsAhead: number;
  /** A body that nobody read is read to its end when no more of it is left, so that the connection can go on. */
  readonly spareBytes: number;
  /** Before a connection is closed on a client that still sends, so much is read on: it would not see the answer otherwise. (RFC 9112, 9.6) */
  readonly lingerBytes: number;
  readonly lingerMs: number;
}

const KiB = 1024;

export const defaultServeLimits: ServeLimits = {
  headerBytes: 16 * KiB,
  headerMs: 30_000,
  headerCheckMs: 5000,
  idleMs: 60_000,
  leastRate: 1 * KiB,
  rateMs: 60_000,
  keepAliveMs: 60_000,
  connections: 1024,
  requestsAhead: 100,
  spareBytes: 64 * KiB,
  lingerBytes: 16 * KiB * KiB,
  lingerMs: 2000,
};
