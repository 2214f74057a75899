import type { HttpResponse } from './http.js';
import { lengthOf } from './fetch-file.js';
import type { FileRequests } from './file-requests.js';
import { type FilePart, noRanges, readPart } from './part-answer.js';

/** What a server gave when it was asked for the end of a file: that, or all of it. The body is still to come. */
export type FoundTail =
  | { readonly kind: 'part'; readonly part: FilePart; readonly response: HttpResponse }
  | { readonly kind: 'whole'; readonly response: HttpResponse };

/** Most archives have their directory, and cartons their metadata, in so many last bytes. */
export const tailBytes = 1024 * 1024;

/**
 * The end of a file by one request; a server that gives parts, but none counted from the end, is asked again by offset. Throws
 * `http/unreachable-file`, `http/no-ranges`.
 */
export async function findTail(requests: FileRequests): Promise<FoundTail> {
  const response = await requests.get({ range: `bytes=-${tailBytes}` }, [200, 206, 416], 0);
  if (response.status === 206) return readTail(response, undefined, requests);
  const size = sizeWithRanges(response);
  if (response.status === 200 && (size === undefined || size <= tailBytes)) return { kind: 'whole', response };
  response.drop();
  if (size === 0) return { kind: 'part', part: { start: 0, end: 0, size }, response };
  const range = size === undefined ? {} : { range: `bytes=${Math.max(0, size - tailBytes)}-${size - 1}` };
  const second = await requests.get(range, [200, 206], 0);
  return second.status === 206 ? readTail(second, size, requests) : { kind: 'whole', response: second };
}

/** `size` is what an answer before said. */
function readTail(response: HttpResponse, size: number | undefined, { shown }: FileRequests): FoundTail {
  try {
    const part = readPart(response, shown);
    const isTail = part.end === part.size && (part.start === 0 || part.end - part.start === tailBytes);
    if (isTail && (size ?? part.size) === part.size) return { kind: 'part', part, response };
    throw noRanges(shown, `expected its last ${tailBytes} bytes, found ${part.start} to ${part.end - 1} of ${part.size}`);
  } catch (error) {
    response.drop();
    throw error;
  }
}

/** Of an answer that says that ranges are known all the same. (RFC 9110, 14.3 and 15.5.17) */
function sizeWithRanges(response: HttpResponse): number | undefined {
  const { status, headers } = response;
  if (status === 200) return headers['accept-ranges']?.trim().toLowerCase() === 'bytes' ? lengthOf(response) : undefined;
  const [, size] = /^bytes \*\/(\d{1,15})$/i.exec(headers['content-range'] ?? '') ?? [];
  return size === undefined ? undefined : Number(size);
}
