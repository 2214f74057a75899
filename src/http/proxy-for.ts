import { BlockList, isIP } from 'node:net';
import { createError } from '../core/index.js';
import { hostOf, isLoopbackHost, portOf } from './http-url.js';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment wants for an address: HTTP_PROXY or HTTPS_PROXY by its scheme, else ALL_PROXY, in small or capital
 * letters, unless NO_PROXY names the host. This machine is never asked through a proxy.
 */
export function proxyFor(url: URL, env: Env): URL | undefined {
  const host = hostOf(url);
  if (isLoopbackHost(host)) return undefined;
  const scheme = url.protocol.slice(0, -1);
  const [name, value] = [`${scheme}_proxy`, 'all_proxy'].map((key) => [key, read(env, key)] as const).find(([, text]) => text !== '') ?? [];
  if (name === undefined || value === undefined || isExcepted(host, portOf(url), read(env, 'no_proxy'))) return undefined;
  return parseProxy(value, name.toUpperCase());
}

function read(env: Env, key: string): string {
  return env[key] || env[key.toUpperCase()] || '';
}

/** `host` or `host:port` is an http proxy, as curl has it. The value is never shown, it may hold a password. */
function parseProxy(value: string, name: string): URL {
  const text = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && (url.protocol === 'http:' || url.protocol === 'https:') && isDecodable(url.username) && isDecodable(url.password))
    return url;
  throw createError('registry/unreachable', {
    message: `Cannot use the proxy of ${name}: expected [http://][USER:PASSWORD@]HOST[:PORT], found something else`,
    hint: `Set ${name} right, or unset it`,
    where: name,
  });
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Entries of NO_PROXY: `*`, a host with its subdomains (`.host` and `*.host` too), an address, a CIDR range; all but the first with `:port`. */
function isExcepted(host: string, port: number, list: string): boolean {
  return list.split(/[\s,]+/).some((entry) => entry !== '' && (entry === '*' || matches(entry.toLowerCase(), host, port)));
}

function matches(entry: string, host: string, port: number): boolean {
  const [, bracketed, plain, wantedPort] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  if (wantedPort !== undefined && Number(wantedPort) !== port) return false;
  const name = bracketed ?? plain ?? entry;
  if (name.includes('/')) return isWithin(name, host);
  const domain = name.replace(/^\*?\./, '');
  return host === domain || host.endsWith(`.${domain}`);
}

function isWithin(range: string, host: string): boolean {
  const [network = '', prefix = ''] = range.split('/');
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  if (isIP(network) === 0 || isIP(network) !== isIP(host) || !/^\d{1,3}$/.test(prefix) || Number(prefix) > (family === 'ipv6' ? 128 : 32))
    return false;
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), family);
  return list.check(host, family);
}
