import { randomBytes } from 'node:crypto';
import type { ByteStream } from '../../../core/index.js';
import type { RegistryHandler, RegistryRequest, RegistryResponse } from '../http.js';
import type { AccessLog } from './access-log.js';
import type { Metrics } from './metrics.js';

export interface Observers {
  readonly metrics?: Metrics | undefined;
  readonly log?: AccessLog | undefined;
}

/** What is longer is no name of a program. */
const agentCharacters = 200;
const methodCharacters = 20;

/**
 * Counts and logs each request when the last byte of its answer has been asked for, or the client is gone. With a log, answers say under which id they
 * stand in it.
 */
export function observe({ metrics, log }: Observers, next: RegistryHandler): RegistryHandler {
  if (metrics === undefined && log === undefined) return next;
  const run = randomBytes(4).toString('hex');
  let count = 0;
  return async (request) => {
    const id = `${run}-${++count}`;
    const begun = performance.now();
    const bytes = { in: 0, out: 0 };
    metrics?.begin();
    const response = await next(hasBody(request) ? { ...request, body: counted(request.body, (size) => (bytes.in += size)) } : request);
    const end = once((isAborted: boolean) => {
      const ms = performance.now() - begun;
      const { method } = request;
      const { status, subject } = response;
      metrics?.end({ method, endpoint: subject.endpoint, status, seconds: ms / 1000, bytesIn: bytes.in, bytesOut: bytes.out });
      log?.write({
        id,
        method: method.slice(0, methodCharacters),
        ...subject,
        status,
        aborted: isAborted || undefined,
        bytesIn: bytes.in,
        bytesOut: bytes.out,
        ms: Math.round(ms * 1000) / 1000,
        client: request.client?.address,
        user: response.user,
        userAgent: request.headers['user-agent']?.slice(0, agentCharacters),
      });
    });
    const answer = log === undefined ? response : { ...response, headers: { ...response.headers, 'X-Request-Id': id } };
    return watchBody(request, answer, (size) => (bytes.out += size), end);
  };
}

function hasBody({ method }: RegistryRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

/** `end` is called once, whatever becomes of the body. */
function watchBody(
  request: RegistryRequest,
  response: RegistryResponse,
  count: (size: number) => void,
  end: (isAborted: boolean) => void,
): RegistryResponse {
  const { body } = response;
  if (body === undefined || body instanceof Uint8Array || request.method === 'HEAD') {
    if (body instanceof Uint8Array && request.method !== 'HEAD') count(body.byteLength);
    end(false);
    return response;
  }
  if (request.signal.aborted) end(true);
  request.signal.addEventListener('abort', () => end(true), { once: true });
  return { ...response, body: async () => ending(counted(await opened(body, end), count), end) };
}

async function opened(open: () => Promise<ByteStream>, end: (isAborted: boolean) => void): Promise<ByteStream> {
  try {
    return await open();
  } catch (error) {
    end(true);
    throw error;
  }
}

async function* counted(stream: ByteStream, count: (size: number) => void): ByteStream {
  for await (const chunk of stream) {
    count(chunk.byteLength);
    yield chunk;
  }
}

/** A stream that is not read to its end was cut off. */
async function* ending(stream: ByteStream, end: (isAborted: boolean) => void): ByteStream {
  let isWhole = false;
  try {
    yield* stream;
    isWhole = true;
  } finally {
    end(!isWhole);
  }
}

function once<T>(action: (value: T) => void): (value: T) => void {
  let isDone = false;
  return (value) => {
    if (!isDone) action(value);
    isDone = true;
  };
}
