import { collect } from '../../bytes/index.js';
import { type ByteStream, createError, type Descriptor } from '../../core/index.js';
import type { Connection } from './connection.js';
import { endpoint } from './endpoint.js';
import { type HttpResponse, isPassingError, toDelay, wait } from '../../http/index.js';

export interface BlobPlace {
  readonly connection: Connection;
  readonly repository: string;
  readonly signal: AbortSignal | undefined;
  /** Added to each request. */
  readonly query: string;
}

/** Bytes that are read and thrown away rather than refused, from a server that knows no ranges. */
const skippedBytes = 64 * 1024 * 1024;

/**
 * The bytes of a blob from `start` up to `end`, not verified. Where the connection breaks it goes on by another range, as long as each
 * try brings something. Throws `registry/interrupted`, `registry/not-found`, `registry/bad-answer`.
 */
export async function* fetchBlobRange(place: BlobPlace, descriptor: Descriptor, start: number, end: number): ByteStream {
  const { connection, signal } = place;
  let position = start;
  let etag: string | undefined;
  let failures = 0;
  while (position < end) {
    const before = position;
    // What keeps an answer from coming was tried again already.
    const response = await request(place, descriptor, position, end);
    try {
      etag = assertSame(etag, response, descriptor, connection);
      for await (const chunk of bodyFrom(response, position, end, descriptor, connection)) {
        position += chunk.byteLength;
        yield chunk;
      }
      if (position < end) throw endedEarly(descriptor, position, connection);
    } catch (error) {
      failures = position > before ? 1 : failures + 1;
      if (!isPassingError(error, true) || failures >= connection.retry.attempts) throw error;
      await wait(toDelay(failures + 1, connection.retry), signal);
    } finally {
      response.drop();
    }
  }
}

/** A whole small range in memory. */
export async function readBlobRange(place: BlobPlace, descriptor: Descriptor, start: number, end: number): Promise<Uint8Array> {
  return collect(fetchBlobRange(place, descriptor, start, end), end - start, `a range of ${descriptor.digest}`);
}

async function request(place: BlobPlace, descriptor: Descriptor, start: number, end: number): Promise<HttpResponse> {
  const { connection, repository, signal, query } = place;
  const isWhole = start === 0 && end === descriptor.size;
  const response = await connection.call({
    action: `fetch the blob ${descriptor.digest} of "${connection.address.host}/${repository}"`,
    method: 'GET',
    target: endpoint.blob(repository, descriptor.digest) + query,
    scopes: [{ kind: 'repository', name: repository, actions: ['pull'] }],
    accepts: [200, 206, 404],
    headers: isWhole ? {} : { range: `bytes=${start}-${end - 1}` },
    expectedBytes: end - start,
    signal,
  });
  if (response.status !== 404) return response;
  response.drop();
  throw createError('registry/not-found', {
    message: `Cannot fetch the blob ${descriptor.digest}: "${connection.address.host}/${repository}" does not have it`,
    hint: 'The package there is not whole: push it again',
    where: descriptor.digest,
  });
}

/** Never two states of one blob in one stream. A weak mark says nothing about bytes. */
function assertSame(before: string | undefined, response: HttpResponse, { digest }: Descriptor, { address }: Connection): string | undefined {
  const now = response.headers['etag'];
  if (before === undefined || now === undefined || now.startsWith('W/') || now === before) return before ?? now;
  throw createError('registry/bad-answer', {
    message: `Cannot fetch the blob ${digest}: it became another one at ${address.host} while it was read`,
    hint: 'Run the same command again',
    where: digest,
  });
}

/** The part of an answer that was asked for: all of a 206 that is exactly that range, the end of a 200 from a server without ranges. */
async function* bodyFrom(response: HttpResponse, start: number, end: number, descriptor: Descriptor, { address }: Connection): ByteStream {
  const isPart = response.status === 206;
  if (isPart) assertRange(response, start, end, descriptor, address.host);
  else assertWhole(response, start, descriptor, address.host);
  let position = isPart ? start : 0;
  for await (const chunk of response.body) {
    const from = Math.max(0, start - position);
    const to = Math.min(chunk.byteLength, end - position);
    position += chunk.byteLength;
    // An empty one is handed on: it says that what came before has been worked on.
    if (from < to || chunk.byteLength === 0) yield from === 0 && to === chunk.byteLength ? chunk : chunk.subarray(from, to);
    if (position > descriptor.size || (isPart && position > end)) throw tooLong(descriptor, address.host);
    if (position >= end && !isPart && end < descriptor.size) return;
  }
}

function assertRange(response: HttpResponse, start: number, end: number, { digest, size }: Descriptor, host: string): void {
  const found = response.headers['content-range'] ?? 'nothing';
  const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(found);
  if (match !== null && Number(match[1]) === start && Number(match[2]) === end - 1 && (match[3] === '*' || Number(match[3]) === size)) return;
  throw createError('registry/bad-answer', {
    message: `Cannot fetch the blob ${digest}: expected the range ${start}-${end - 1}/${size}, ${host} gave ${found.slice(0, 80)}`,
    hint: 'The registry, or something between here and there, handles ranges wrongly',
    where: digest,
  });
}

function assertWhole(response: HttpResponse, start: number, descriptor: Descriptor, host: string): void {
  const length = response.headers['content-length'];
  if (length !== undefined && Number(length) !== descriptor.size) {
    throw createError('bytes/size-mismatch', {
      message: `Cannot use the blob ${descriptor.digest}: expected ${descriptor.size} bytes, ${host} has ${length.slice(0, 20)}`,
      hint: 'The registry holds something else than the package promises: push the package again',
      where: descriptor.digest,
    });
  }
  if (start <= skippedBytes) return;
  throw createError('registry/unsupported', {
    message: `Cannot fetch the blob ${descriptor.digest} from byte ${start} on: ${host} sends whole blobs only`,
    where: descriptor.digest,
  });
}

function tooLong({ digest, size }: Descriptor, host: string): Error {
  return createError('bytes/size-mismatch', {
    message: `Cannot use the blob ${digest}: expected ${size} bytes, ${host} sends more`,
    hint: 'The registry holds something else than the package promises: push the package again',
    where: digest,
  });
}

function endedEarly({ digest, size }: Descriptor, position: number, { address }: Connection): Error {
  return createError('registry/interrupted', {
    message: `Cannot fetch the blob ${digest}: ${address.host} ended after ${position} of ${size} bytes`,
    hint: 'Run the same command again: it goes on where it stopped',
    where: digest,
  });
}
