import { createError } from '../../../core/index.js';

/**
 * Registries whose token service is on another host that belongs to them; most have it on their own, as ghcr.io, quay.io and
 * registry.redhat.io do. Host names match exactly, on any port.
 */
const realmHosts: readonly { readonly registries: readonly string[]; readonly realms: readonly string[] }[] = [
  { registries: ['docker.io', 'index.docker.io', 'registry-1.docker.io'], realms: ['auth.docker.io'] },
  { registries: ['registry.gitlab.com'], realms: ['gitlab.com'] },
  { registries: ['nvcr.io'], realms: ['authn.nvidia.com'] },
  { registries: ['registry.digitalocean.com'], realms: ['api.digitalocean.com'] },
];

/** Where tokens are fetched. */
export interface Realm {
  /** Without user information and fragment. */
  readonly url: URL;
  /** False for a host that nobody vouches for: it is asked without a login. */
  readonly takesCredentials: boolean;
}

export interface RealmOptions {
  /** As in package names. */
  readonly host: string;
  readonly registryUrl: string;
  /** `HOST` for any port or `HOST:PORT`, which may get logins too. */
  readonly trustedRealmHosts: readonly string[];
}

/**
 * What a registry says about its token service → where to ask, and whether with a login. Being a subdomain is no reason for trust. Throws
 * `registry/bad-address` for an address that is not asked at all: no URL, user information, another scheme than https (http only
 * on the host of a registry that is spoken to over http itself).
 */
export function judgeRealm(realm: string, options: RealmOptions): Realm {
  const registry = new URL(options.registryUrl);
  const url = URL.canParse(realm) ? new URL(realm) : undefined;
  if (url === undefined) throw refuse('is no URL', options.host);
  if (url.username !== '' || url.password !== '') throw refuse(`holds a user name or password (it is on ${url.host})`, options.host);
  const isOwn = url.hostname === registry.hostname;
  const isPlain = url.protocol === 'http:' && registry.protocol === 'http:' && isOwn;
  if (url.protocol !== 'https:' && !isPlain) {
    throw refuse(`is not safe: expected https, found ${url.protocol.slice(0, -1)} (on "${url.host}")`, options.host);
  }
  url.hash = '';
  return { url, takesCredentials: isOwn || isListed(url, registry) || isTrusted(url, options.trustedRealmHosts) };
}

function isListed(realm: URL, registry: URL): boolean {
  return realmHosts.some(({ registries, realms }) => registries.includes(registry.hostname) && realms.includes(realm.hostname));
}

function isTrusted(realm: URL, trusted: readonly string[]): boolean {
  const withPort = `${realm.hostname}:${realm.port === '' ? '443' : realm.port}`;
  return trusted.some((host) => [realm.hostname, withPort].includes(host.toLowerCase()));
}

function refuse(reason: string, host: string): Error {
  return createError('registry/bad-address', {
    message: `Cannot log in to "${host}": the address of the token service that it names ${reason}`,
    hint: 'Ask whoever runs the registry: its token service must have a plain https address',
    where: host,
  });
}
