import { findQuirks, type Quirks } from './quirks.js';

/** Where the API of a registry is. */
export interface RegistryAddress {
  /** As in package names. */
  readonly host: string;
  /** `https://HOST[:PORT]`, without a slash at the end. */
  readonly origin: string;
  readonly quirks: Quirks;
}

/** A registry on this machine is spoken to without TLS, as every tool does it. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(name) || name === '[::1]';
}

/** `given` counts before the quirks that are known. */
export function toRegistryAddress(host: string, plainHttp: boolean, given: Partial<Quirks> = {}): RegistryAddress {
  const quirks = { ...findQuirks(host), ...given };
  const scheme = plainHttp || isLoopbackHost(host) ? 'http' : 'https';
  return { host, origin: new URL(`${scheme}://${quirks.apiHost ?? host}`).origin, quirks };
}

/**
 * A Location of this registry → URL, query kept. Registries behind proxies write their own host with a wrong scheme or without
 * the port: as long as the host's name is the same, the address that we reached them by counts.
 */
export function toLocation(location: string, requested: string, { origin }: RegistryAddress): string {
  const url = new URL(location, requested);
  const own = new URL(origin);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  return isWeb && url.hostname === own.hostname && (url.port === '' || url.port === own.port || url.protocol !== own.protocol)
    ? `${origin}${url.pathname}${url.search}`
    : url.href;
}
