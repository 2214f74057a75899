import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { ByteCounters, ByteStream } from '../core/index.js';
import { type Answer, type Exchange, joinHeaders } from './exchange.js';
import type { StallWatch } from './stall-watch.js';
import { interrupted, toTransportError } from './transport-error.js';

/** An answer of which node:http has read the head. */
export interface Received {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  readonly exchange: Exchange;
  readonly watch: StallWatch;
  /** False when it came before all of the request was sent: the connection is of no more use. */
  readonly isSent: boolean;
  readonly counters: ByteCounters;
}

/** What is left of an answer up to this size is read and thrown away, which is cheaper than a new connection. */
const skippedBytes = 64 * 1024;

export function toAnswer(received: Received): Answer {
  const { request, response, exchange, watch, isSent } = received;
  let isDropped = false;
  watch.rest();
  response.on('error', () => {});
  const finish = () => {
    watch.stop();
    if (!isSent) request.destroy();
  };
  // Before the agent gives the socket to the next request.
  response.once('end', finish).once('close', finish);
  const drop = () => {
    if (isDropped || response.readableEnded) return;
    isDropped = true;
    watch.expect();
    if (isSent && bytesLeft(exchange, response) <= skippedBytes) response.resume();
    else response.destroy();
  };
  return {
    status: response.statusCode ?? 0,
    headers: joinHeaders(pairsOf(response.rawHeaders)),
    body: readBody(received, () => isDropped),
    drop,
    free: async () => {
      drop();
      // All of it came together with the head.
      if (response.complete && !response.closed) await once(response, 'close');
    },
  };
}

/** Nothing will come, so nobody needs to read it. */
export function isWithoutBody({ method }: Exchange, { statusCode, headers }: IncomingMessage): boolean {
  return method === 'HEAD' || statusCode === 204 || statusCode === 304 || headers['content-length'] === '0';
}

/** At most; what is not known is taken for endless. */
function bytesLeft(exchange: Exchange, response: IncomingMessage): number {
  return isWithoutBody(exchange, response) ? 0 : Number(response.headers['content-length'] ?? Number.POSITIVE_INFINITY);
}

async function* readBody({ response, exchange, watch, counters }: Received, isDropped: () => boolean): ByteStream {
  if (isDropped() && !isWithoutBody(exchange, response)) throw interrupted(exchange, 'the rest of the answer was given up');
  if (response.readableEnded || isWithoutBody(exchange, response)) return;
  watch.expect();
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      watch.rest();
      counters.received += chunk.byteLength;
      yield chunk;
      if (isDropped()) throw interrupted(exchange, 'the rest of the answer was given up');
      watch.expect();
    }
  } catch (error) {
    throw toTransportError(error, exchange);
  }
  if (!response.complete) throw interrupted(exchange, 'the connection broke off');
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? '']);
}
