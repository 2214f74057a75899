import { validateHeaderName, validateHeaderValue } from 'node:http';
import { createError, version } from '../core/index.js';
import type { Answer, Exchange, Wire } from './exchange.js';
import { FastLane } from './fast/fast-lane.js';
import type { HttpClient, HttpOptions, HttpRequest, HttpResponse, Timeouts } from './http.js';
import { parseHttpUrl, toHostPort } from './http-url.js';
import { exchangePlain } from './plain-exchange.js';
import { type Network, type Reach, ReachPolicy, systemNetwork } from './reach.js';
import { assertNoDowngrade, findRedirect, headersFor, mostHops, tooManyHops } from './redirect.js';
import { Routes } from './routes.js';
import { createTlsSettings, type TlsSettings } from './tls-settings.js';
import { cancelled } from './transport-error.js';

const defaultTimeouts: Timeouts = { connect: 15_000, stall: 60_000 };

/** `network` is for tests. */
export function createHttpClient(options: HttpOptions, network: Network = systemNetwork): HttpClient {
  let settings: Promise<TlsSettings> | undefined;
  const policy = new ReachPolicy(network);
  const wire: Wire = {
    counters: options.counters,
    timeouts: options.timeouts ?? defaultTimeouts,
    policy,
    tls: () => (settings ??= createTlsSettings(options.tls, options.env)),
  };
  const routes = new Routes(options.env, wire);
  const lane = new FastLane(wire);

  const exchange = async (sent: Exchange): Promise<Answer> => {
    if (sent.signal?.aborted === true) throw cancelled(sent.signal);
    policy.assertReachable(sent.url, sent.reach);
    const fast = lane.takes(sent) && routes.proxyFor(sent.url) === undefined ? await lane.send(sent) : undefined;
    return fast ?? exchangePlain(sent, await routes.find(sent), wire);
  };

  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    let sent = await toExchange(request, policy);
    for (let hops = 0; ; hops++) {
      const answer = await exchange(sent);
      const next = await redirect(sent, answer, policy, request);
      if (next === undefined) return toResponse(answer, sent.url);
      await answer.free();
      if (hops === mostHops) throw tooManyHops(sent.url);
      sent = next;
    }
  };

  return {
    send,
    close: () => {
      routes.close();
      lane.close();
    },
  };
}

async function toExchange(request: HttpRequest, policy: ReachPolicy): Promise<Exchange> {
  const { method, headers, authorization, body, expectedBytes = 0, signal, foundAt } = request;
  const use = { action: `send a ${method} request`, where: 'its address' };
  const url = parseHttpUrl(request.url, undefined, use);
  const finder = foundAt === undefined ? url : parseHttpUrl(foundAt, undefined, use);
  assertNoDowngrade(finder, url);
  const login = authorization === undefined ? {} : { authorization };
  const all = { accept: '*/*', ...headers, ...login, 'user-agent': `modelport/${version}`, 'accept-encoding': 'identity' };
  assertHeaders(all, url);
  return { method, url, headers: all, body, expectedBytes, signal, reach: await reachOf(url, finder, 'anywhere', policy) };
}

function toResponse({ status, headers, body, drop }: Answer, { href }: URL): HttpResponse {
  return { status, headers, body, drop, url: href };
}

/** Their values are secrets, so they are not shown. */
function assertHeaders(headers: Readonly<Record<string, string>>, url: URL): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      throw createError('core/bug', {
        message: `Cannot send a request to "${toHostPort(url)}": the header "${name}" holds what HTTP does not allow`,
      });
    }
  }
}

/** Permission to go anywhere comes from whoever named the first foreign address, and is not found again on the way. */
async function reachOf(url: URL, finder: URL, before: Reach, policy: ReachPolicy): Promise<Reach> {
  return url.origin === finder.origin || before === 'public' ? before : policy.grant(finder);
}

async function redirect(sent: Exchange, answer: Answer, policy: ReachPolicy, { url, foundAt }: HttpRequest): Promise<Exchange | undefined> {
  try {
    const next = findRedirect(sent, answer);
    if (next === undefined) return undefined;
    const reach = next.origin === sent.url.origin ? sent.reach : await reachOf(next, new URL(foundAt ?? url), sent.reach, policy);
    return { ...sent, url: next, headers: headersFor(next, sent), reach };
  } catch (error) {
    answer.drop();
    throw error;
  }
}
