import { type LogEntry } from './request-log.js';

/** How often a fault strikes. */
export type Times = 'once' | 'always';

/** Where a download ends too early. */
export interface Truncation {
  /** How many bytes of the answer still go out. */
  readonly after: number;
  /**
   * `length`: announced whole, then the connection breaks. `chunked`: HTTP chunks, broken without the last one. `close`: no length at all,
   * ended by closing, so that nothing in HTTP tells. `shorter`: the announced length is the shorter one.
   */
  readonly framing: 'length' | 'chunked' | 'close' | 'shorter';
  readonly times: Times;
}

/** What the registry does and does not. All of it may be changed while it runs. */
export interface Behaviour {
  /** The referrers API; without it 404, and no `OCI-Subject`. */
  referrers: boolean;
  /** Applies `?artifactType=` and says so. */
  filtersReferrers: boolean;
  referrersPageSize: number;
  tagsPageSize: number;
  /** Announced with every new upload; a completed chunk that is smaller must be the last. */
  chunkMinLength: number | undefined;
  /** 'refuse-416' takes no PATCH at all. */
  chunked: 'yes' | 'refuse-416' | 'refuse-above-4MiB';
  firstPatchAnswers201: boolean;
  /** Docker's registry 2.8 does not: it appends whatever comes. */
  checksContentRange: boolean;
  /** Docker's registry 2.8 loses an upload whose connection broke, and says 404 from then on. */
  brokenUploads: 'kept' | 'lost';
  /** POST with `?digest=`; without it the digest is passed over and an upload begins. */
  monolithicPost: boolean;
  /** What the status of an upload without bytes says; registries differ. */
  emptyRange: '0-0' | '0--1' | 'absent';
  /** Of uploads: a path instead of a URL. */
  relativeLocation: boolean;
  /** Of uploads: with a query that must come back unchanged, or the upload is unknown. */
  locationWithQuery: boolean;
  /** Of uploads: `HOST[:PORT]` that stands there instead of the true one. */
  locationHost: string | undefined;
  acceptsMount: boolean;
  /** To a mount by somebody who may push here but not pull there: 401 as Docker's registry does, or an upload. */
  mountWithoutRight: 'refuse' | 'upload';
  /** 'by-digest' deletes no tags. */
  deletes: boolean | 'by-digest';
  digestAlgorithms: readonly string[];
  /** Bytes; larger ones are 413. */
  manifestLimit: number;
  ignoreRange: boolean;
  /** 307 for blobs: to the registry's own second origin, or to where the function says. */
  blobRedirect: 'none' | 'storage' | ((digest: string) => string);
  /** Digest → content type on the way out. */
  manifestContentType: ReadonlyMap<string, string>;
  dropContentDigest: boolean;
  wrongContentDigest: boolean;
  /** Digest → one bit in the middle of what goes out is wrong; 'once' disappears when it struck. */
  corruptBlob: Map<string, Times>;
  truncateBlob: Map<string, Truncation>;
  /** Every error is a web page, as proxies answer. */
  htmlErrors: boolean;
  /** Texts of `Warning: 299` in every answer. */
  warnings: readonly string[];
  /** 429 for the first `times` requests after it was set; `retryAfter` as in the header, empty for none. */
  rateLimit: { readonly times: number; readonly retryAfter: string } | undefined;
  /** An error instead of doing what was asked. Comes before authorization; the body is not taken. */
  failStatus: ((request: LogEntry) => number | undefined) | undefined;
  /** Headers that go out instead of the honest ones, by name in lower case; undefined removes one. */
  headers: ((request: LogEntry) => Readonly<Record<string, string | undefined>>) | undefined;
}

/** A registry without quirks. */
export function createBehaviour(given: Partial<Behaviour> = {}): Behaviour {
  return {
    referrers: true,
    filtersReferrers: true,
    referrersPageSize: 1000,
    tagsPageSize: 1000,
    chunkMinLength: undefined,
    chunked: 'yes',
    firstPatchAnswers201: false,
    checksContentRange: true,
    brokenUploads: 'kept',
    monolithicPost: true,
    emptyRange: '0-0',
    relativeLocation: false,
    locationWithQuery: false,
    locationHost: undefined,
    acceptsMount: true,
    mountWithoutRight: 'refuse',
    deletes: true,
    digestAlgorithms: ['sha256', 'sha512'],
    manifestLimit: 4 * 1024 * 1024,
    ignoreRange: false,
    blobRedirect: 'none',
    manifestContentType: new Map(),
    dropContentDigest: false,
    wrongContentDigest: false,
    corruptBlob: new Map(),
    truncateBlob: new Map(),
    htmlErrors: false,
    warnings: [],
    rateLimit: undefined,
    failStatus: undefined,
    headers: undefined,
    ...given,
  };
}
