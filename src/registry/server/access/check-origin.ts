import { isIP } from 'node:net';
import type { RegistryHandler, RegistryRequest, RegistryResponse } from '../http.js';
import { Refusal, toAnswer } from '../refusal.js';

/** A name or an IP literal, in brackets for version 6, and a port. (RFC 9110, 7.2) */
const hostShape = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i;

const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/i;

/** What a browser says of a request that a page of somebody else makes. (Fetch Metadata) */
const foreignSites = ['cross-site', 'same-site'];

/**
 * Keeps web pages out. A page can make a browser ask any address under any name (DNS rebinding), and then the name betrays it: only IP literals,
 * `localhost` and the names in `hosts` are served, on whatever port. A request that says that it comes from a page of another origin is refused too.
 * No answer allows a browser to read it from elsewhere.
 */
export function checkOrigin(hosts: readonly string[], next: RegistryHandler): RegistryHandler {
  const allowed = new Set(hosts.map((host) => toName(host)));
  return async (request) => {
    try {
      const addressed = toOriginForm(request);
      assertHost(addressed.headers.host ?? '', allowed);
      assertNoForeignPage(addressed);
      return await next(addressed);
    } catch (error) {
      return refuse(error);
    }
  };
}

function refuse(error: unknown): RegistryResponse {
  if (error instanceof Refusal) return toAnswer(error, { endpoint: 'unknown' });
  throw error;
}

/** A whole URL on the request line is for proxies, and counts more than the Host field: they have to agree. (RFC 9112, 3.2.2) */
function toOriginForm(request: RegistryRequest): RegistryRequest {
  const [, authority, rest = ''] = absoluteForm.exec(request.target) ?? [];
  if (authority === undefined) return request;
  if (authority.toLowerCase() === request.headers.host?.toLowerCase()) return { ...request, target: rest.startsWith('/') ? rest : `/${rest}` };
  throw new Refusal(400, 'DENIED', 'The address on the request line and the Host field name different hosts');
}

function assertHost(host: string, allowed: ReadonlySet<string>): void {
  const [, name] = hostShape.exec(host) ?? [];
  if (name !== undefined && isServed(toName(name), allowed)) return;
  const shown = JSON.stringify(host.slice(0, 100));
  throw new Refusal(421, 'DENIED', `This registry does not answer to the host ${shown}: start it with --allow-host NAME to allow a name`);
}

function isServed(name: string, allowed: ReadonlySet<string>): boolean {
  const isLiteral = name.startsWith('[') ? isIP(name.slice(1, -1)) === 6 : isIP(name) === 4;
  return isLiteral || name === 'localhost' || name.endsWith('.localhost') || allowed.has(name);
}

/** A final dot says that the name is complete, and changes nothing else. */
function toName(host: string): string {
  return host.toLowerCase().replace(/(?<=.)\.$/, '');
}

function assertNoForeignPage({ headers, client }: RegistryRequest): void {
  const own = `${client?.isSecure === true ? 'https' : 'http'}://${headers.host}`;
  const { origin, 'sec-fetch-site': site } = headers;
  const isForeign = (origin !== undefined && origin.toLowerCase() !== own.toLowerCase()) || (site !== undefined && foreignSites.includes(site));
  if (isForeign) throw new Refusal(403, 'DENIED', 'This registry does not answer to web pages of other origins');
}
