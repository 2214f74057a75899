import type { ByteStream } from '../core/index.js';
import { type FileAccessOptions, FileRequests } from './file-requests.js';
import { assertSameState, fileChanged, type FileState, readState, toIfRange } from './file-state.js';
import type { HttpResponse } from './http.js';
import { noRanges, readPart } from './part-answer.js';
import { type OpenBody, resumedStream } from './resumed-stream.js';

/** A file on its way. Read its body once, or `drop` it. */
export interface FetchedFile {
  /** As they are sent; undefined when the server does not say. */
  readonly size: number | undefined;
  /** Value of Content-Encoding, empty for none: `body` is not decoded. */
  readonly encoding: string;
  /** The address for messages. */
  readonly shown: string;
  /**
   * Goes on by a range where the connection breaks, as long as the file stays the same. Throws `http/unreachable-file`, `http/changed`,
   * `http/no-ranges`; the bytes are not verified.
   */
  readonly body: ByteStream;
  drop(): void;
}

/** Long answers come straight from the socket; how long this one is nobody knows yet. */
const expectedBytes = Number.MAX_SAFE_INTEGER;

/** Asks for a whole file. Throws `http/unreachable-file`. */
export async function fetchFile(url: string, options: FileAccessOptions): Promise<FetchedFile> {
  const requests = new FileRequests(url, options);
  return toFetchedFile(await requests.get({}, [200], expectedBytes), requests);
}

/** From the answer to a request for all of it. */
export function toFetchedFile(first: HttpResponse, requests: FileRequests): FetchedFile {
  const state = readState(first, lengthOf(first));
  const encoding = first.headers['content-encoding'] ?? '';
  const answers = [first];
  const ask = async (position: number): Promise<OpenBody> => answers.pop() ?? askRest(position, state, encoding, requests);
  return { size: state.size, encoding, shown: requests.shown, body: resumedStream(ask, 0, requests), drop: () => first.drop() };
}

/** Of an encoded answer the part of what is sent, not of what it stands for. */
async function askRest(position: number, state: FileState, encoding: string, requests: FileRequests): Promise<OpenBody> {
  const response = await requests.get({ range: `bytes=${position}-`, ...toIfRange(state) }, [200, 206, 416], expectedBytes);
  try {
    if (response.status === 416) throw fileChanged(requests.shown);
    const part = response.status === 206 ? readPart(response, requests.shown, encoding) : undefined;
    assertSameState(state, readState(response, part?.size ?? lengthOf(response)), requests.shown);
    if (part === undefined) return { body: past(response.body, position), drop: () => response.drop() };
    if (part.start === position && part.end === part.size) return response;
    throw noRanges(requests.shown, `expected the bytes from ${position} on, found ${part.start} to ${part.end - 1} of ${part.size}`);
  } catch (error) {
    response.drop();
    throw error;
  }
}

/** A server without ranges sends all of it once more. */
async function* past(stream: ByteStream, count: number): ByteStream {
  let left = count;
  for await (const chunk of stream) {
    if (left < chunk.byteLength || chunk.byteLength === 0) yield chunk.subarray(Math.min(left, chunk.byteLength));
    left = Math.max(0, left - chunk.byteLength);
  }
}

export function lengthOf({ headers }: HttpResponse): number | undefined {
  const length = headers['content-length'];
  return length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}
