import { createError } from '../core/index.js';
import type { HttpResponse } from './http.js';

/** What tells one state of a file at a server from another. */
export interface FileState {
  /** Bytes of the whole file as it is sent; undefined when the server does not say. */
  readonly size: number | undefined;
  /** Strong ones only: a weak one says nothing about bytes. */
  readonly etag: string | undefined;
  readonly modified: string | undefined;
}

export function readState({ headers }: HttpResponse, size: number | undefined): FileState {
  const etag = headers['etag'];
  return { size, etag: etag?.startsWith('"') === true ? etag : undefined, modified: headers['last-modified'] };
}

/** For further requests: parts of this state only, else all of the new one. (RFC 9110, 13.1.5) */
export function toIfRange({ etag, modified }: FileState): Readonly<Record<string, string>> {
  const validator = etag ?? modified;
  return validator === undefined ? {} : { 'if-range': validator };
}

/** Throws `http/changed` when an answer is about another state. What either does not say is not compared. */
export function assertSameState(before: FileState, now: FileState, shown: string): void {
  const differ = (a: unknown, b: unknown) => a !== undefined && b !== undefined && a !== b;
  const isOther = differ(before.size, now.size) || differ(before.etag, now.etag) || (now.etag === undefined && differ(before.modified, now.modified));
  if (isOther) throw fileChanged(shown);
}

export function fileChanged(shown: string): Error {
  return createError('http/changed', {
    message: `Cannot read "${shown}" any further: it became another file at the server`,
    hint: 'Run the same command again',
    where: shown,
  });
}
