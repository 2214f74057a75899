import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isSystemError } from '../bytes/index.js';
import { type Answer, type Exchange, headBytes, type Wire } from './exchange.js';
import { hostOf, portOf } from './http-url.js';
import { isWithoutBody, toAnswer } from './plain-answer.js';
import { watchRequest } from './request-watch.js';
import type { Route } from './routes.js';
import { sendBody } from './send-body.js';
import type { StallWatch } from './stall-watch.js';
import { badAnswer, cancelled, toTransportError, unreachableError } from './transport-error.js';

/** More interim answers than any server has use for. */
const mostInterim = 32;

/** One exchange over node:http, by an agent that keeps connections. */
export async function exchangePlain(exchange: Exchange, route: Route, wire: Wire): Promise<Answer> {
  wire.counters.requests++;
  const answer = await attempt(exchange, route, wire);
  if (answer !== 'stale') return answer;
  const second = await attempt(exchange, route, wire);
  if (second !== 'stale') return second;
  throw toTransportError(undefined, exchange);
}

/** `stale` when the server had closed a kept connection before it saw the request; said only of what is safe to send again. */
async function attempt(exchange: Exchange, route: Route, wire: Wire): Promise<Answer | 'stale'> {
  if (exchange.signal?.aborted === true) throw cancelled(exchange.signal);
  const request = openRequest(exchange, route);
  const { answered, watch } = listen(request, exchange, route, wire);
  try {
    const isSent = await send(request, exchange, answered, watch, wire);
    const response = await answered;
    wire.policy.note(exchange.url, route.proxy === undefined ? response.socket.remoteAddress : undefined);
    const answer = toAnswer({ request, response, exchange, watch, isSent, counters: wire.counters });
    if (isWithoutBody(exchange, response)) await answer.free();
    return answer;
  } catch (error) {
    watch.stop();
    request.destroy();
    if (error instanceof Stale) return 'stale';
    throw error;
  }
}

class Stale extends Error {}

function openRequest({ url, method, headers, body }: Exchange, { agent, tls }: Route): ClientRequest {
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return open({
    ...tls,
    agent,
    protocol: url.protocol,
    host: hostOf(url),
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    method,
    headers: { ...headers, ...frame(method, body?.size, body !== undefined) },
    maxHeaderSize: headBytes,
  });
}

/** Without a size node:http sends the body in chunks; a POST or PUT without a body says that it has none. (RFC 9110, 8.6) */
function frame(method: string, size: number | undefined, hasBody: boolean): Record<string, string> {
  if (size !== undefined) return { 'content-length': String(size) };
  if (hasBody) return { 'transfer-encoding': 'chunked' };
  return ['POST', 'PUT', 'PATCH'].includes(method) ? { 'content-length': '0' } : {};
}

/** `answered` rejects with errors of ours only. */
function listen(request: ClientRequest, exchange: Exchange, route: Route, wire: Wire) {
  let fail: (error: unknown) => void = () => {};
  let answer: IncomingMessage | undefined;
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    fail = (error) => reject(isStale(error, request, exchange) ? new Stale() : toTransportError(error, exchange));
    request.once('response', (response) => {
      const isRefused = route.proxy !== undefined && response.statusCode === 407;
      if (isRefused) fail(proxyRefused(exchange, route.proxy, 407));
      else resolve((answer = response));
    });
    // Stays for good: what comes after the answer is told by its body.
    request.on('error', fail);
    request.once('close', () => fail(undefined));
    // Else the words of a proxy, which nobody has proven, would pass as the answer of the server.
    request.once('proxyConnect', ({ statusCode }: { statusCode?: number }) => {
      if (statusCode !== undefined && statusCode !== 200) fail(proxyRefused(exchange, route.proxy, statusCode));
    });
    let interim = 0;
    request.on('information', () => {
      if (++interim > mostInterim) fail(badAnswer(exchange, `more than ${mostInterim} interim answers came`));
    });
  });
  answered.catch(() => {});
  const watch = watchRequest(request, exchange, route, wire, (error) => {
    fail(error);
    answer?.destroy(error);
  });
  return { answered, watch };
}

function isStale(error: unknown, request: ClientRequest, { method }: Exchange): boolean {
  const isGone = isSystemError(error, 'ECONNRESET') || isSystemError(error, 'EPIPE');
  return request.reusedSocket && isGone && (method === 'GET' || method === 'HEAD');
}

async function send(request: ClientRequest, { body }: Exchange, answered: Promise<unknown>, watch: StallWatch, wire: Wire): Promise<boolean> {
  if (body !== undefined) return sendBody(request, body, answered, watch, wire.counters);
  request.end();
  return true;
}

function proxyRefused(exchange: Exchange, proxy: URL | undefined, status: number): Error {
  const hint =
    status === 407 ? 'It asks for a login: write http://USER:PASSWORD@HOST:PORT into HTTPS_PROXY' : 'Check HTTPS_PROXY, or name the host in NO_PROXY';
  return unreachableError(exchange, `the proxy "${proxy?.host ?? ''}" answered ${status}`, hint);
}
