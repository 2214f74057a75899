import { createError } from '../core/index.js';
import type { Answer, Exchange } from './exchange.js';
import { parseHttpUrl, toHostPort, toPlainUrl } from './http-url.js';

export const mostHops = 10;

/** What may go to a stranger; everything else may be a secret. */
const harmless = ['accept', 'accept-encoding', 'range', 'if-range', 'user-agent', 'content-type', 'content-length'];

/**
 * Where an answer sends the request on, if it does. Without a body a redirect of any kind is followed with the same method, with one
 * only those that say that the body is to be sent again. (RFC 9110, 15.4)
 */
export function findRedirect({ method, url }: Exchange, { status, headers }: Answer): URL | undefined {
  const follows = method === 'GET' || method === 'HEAD' ? [301, 302, 303, 307, 308] : [307, 308];
  const location = headers['location'];
  if (location === undefined || !follows.includes(status)) return undefined;
  const where = toPlainUrl(url);
  const next = parseHttpUrl(location, url, { action: `follow the redirect of "${toHostPort(url)}"`, where });
  assertNoDowngrade(url, next);
  return next;
}

/** What TLS protected does not go on without it. */
export function assertNoDowngrade(from: URL, to: URL): void {
  if (from.protocol !== 'https:' || to.protocol === 'https:') return;
  throw createError('registry/bad-address', {
    message: `Cannot follow an address of "${toHostPort(from)}": it leads from https to http, to "${toHostPort(to)}"`,
    hint: 'Ask whoever runs the registry: what it names must have an https address',
    where: toPlainUrl(from),
  });
}

/** To another origin (scheme, host and port) go only headers that cannot be secret. */
export function headersFor(to: URL, { url, headers }: Pick<Exchange, 'url' | 'headers'>): Readonly<Record<string, string>> {
  return url.origin === to.origin ? headers : Object.fromEntries(Object.entries(headers).filter(([name]) => harmless.includes(name)));
}

export function tooManyHops(url: URL): Error {
  return createError('registry/bad-address', {
    message: `Cannot follow the redirects of "${toHostPort(url)}": there are more than ${mostHops}`,
    hint: 'Ask whoever runs the registry: it may send in a circle',
    where: toPlainUrl(url),
  });
}
