import type { ByteStream } from '../../core/index.js';

/** A request, whatever brought it. */
export interface RegistryRequest {
  /** In capitals. */
  readonly method: string;
  /** Path and query as they stand on the request line, percent-encoded. */
  readonly target: string;
  /** Names in lower case; fields that came several times are joined by `, `. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** To be read at most once; what is not read is left to whoever brought the request. */
  readonly body: ByteStream;
  /** Aborted when who asked is gone. */
  readonly signal: AbortSignal;
  /** Absent where no socket brought it. */
  readonly client?: RequestClient;
}

export interface RequestClient {
  /** As the socket says it: behind a proxy that is the proxy. */
  readonly address: string;
  /** Whether it came over TLS. */
  readonly isSecure: boolean;
}

export interface RegistryResponse {
  readonly status: number;
  /** Names as they go over the wire; several values become several fields. Content-Length is there whenever it is known, for HEAD too. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** Absent: none, as for HEAD. Bytes, or a stream of as many as Content-Length says that is opened only to be sent. */
  readonly body?: Uint8Array | (() => Promise<ByteStream>);
  /** What was asked, in words for a log and for metrics. */
  readonly subject: RequestSubject;
  /** Who asked, once that has been proven: a name, never a secret. */
  readonly user?: string;
}

export interface RequestSubject {
  /** One of a few words: `ping`, `blob`, `upload`, `manifest`, `tags`, `referrers`, `catalog`, `extensions`, `probe`, `metrics`, `unknown`. */
  readonly endpoint: string;
  readonly repository?: string;
  /** Tag, digest or upload id. */
  readonly reference?: string;
}

/** Never throws: a request that cannot be answered is answered with an error. */
export type RegistryHandler = (request: RegistryRequest) => Promise<RegistryResponse>;
