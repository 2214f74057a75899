import { createError } from '../core/index.js';
import type { HttpResponse } from './http.js';

/** Bytes `start` up to `end` of a file of `size` bytes. */
export interface FilePart {
  readonly start: number;
  readonly end: number;
  readonly size: number;
}

/**
 * What a 206 says it holds. Throws `http/no-ranges` unless it is one part, as long as it says, and with no other
 * Content-Encoding than the whole. (RFC 9110, 14.4 and 15.3.7)
 */
export function readPart({ headers }: HttpResponse, shown: string, encoding = ''): FilePart {
  const type = headers['content-type'] ?? '';
  if (/^multipart\/byteranges/i.test(type)) throw noRanges(shown, 'it answered in several parts to a request for one');
  const found = headers['content-encoding'] ?? '';
  if (found !== encoding && !(isPlain(found) && isPlain(encoding))) {
    throw noRanges(shown, `expected the Content-Encoding ${JSON.stringify(encoding)}, found ${JSON.stringify(found.slice(0, 80))}`);
  }
  const range = headers['content-range'] ?? 'none';
  const [, first = '', last = '', total = ''] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(range) ?? [];
  const part = { start: Number(first), end: Number(last) + 1, size: Number(total) };
  if (total === '' || part.start >= part.end || part.end > part.size) {
    throw noRanges(shown, `expected a Content-Range with the size of the file, found ${JSON.stringify(range.slice(0, 80))}`);
  }
  const length = headers['content-length'];
  if (length === undefined || Number(length) === part.end - part.start) return part;
  throw noRanges(shown, `its answer has ${length.slice(0, 20)} bytes, its Content-Range says ${part.end - part.start}`);
}

/** Whether a Content-Encoding leaves the bytes as they are. */
export function isPlain(encoding: string): boolean {
  return /^\s*(identity)?\s*$/i.test(encoding);
}

export function noRanges(shown: string, reason: string): Error {
  return createError('http/no-ranges', {
    message: `Cannot read parts of "${shown}": ${reason}`,
    hint: 'Download the file, and name it instead of its address',
    where: shown,
  });
}
