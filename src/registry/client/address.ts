import { createError } from '../../core/index.js';
import { hostOf, isLoopbackHost } from '../../http/index.js';
import { findQuirks, type Quirks } from './quirks.js';

/** Where the API of a registry is. */
export interface RegistryAddress {
  /** As in package names. */
  readonly host: string;
  /** `https://HOST[:PORT]`, without a slash at the end. */
  readonly origin: string;
  readonly quirks: Quirks;
}

/**
 * Without `plainHttp` a host of this machine is spoken to without TLS, every other one with it. `given` counts before the quirks that
 * are known. Throws `core/bad-reference` for what looks like a host and can be none, such as 1127.0.0.1.
 */
export function toRegistryAddress(host: string, plainHttp: boolean | undefined, given: Partial<Quirks> = {}): RegistryAddress {
  const quirks = { ...findQuirks(host), ...given };
  const plain = `http://${quirks.apiHost ?? host}`;
  if (!URL.canParse(plain)) {
    throw createError('core/bad-reference', {
      message: `Cannot use the host "${host}": no address can be made of it`,
      hint: 'Check its numbers and its port',
    });
  }
  const isPlain = plainHttp ?? isLoopbackHost(hostOf(new URL(plain)));
  return { host, origin: new URL(isPlain ? plain : plain.replace('http:', 'https:')).origin, quirks };
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
