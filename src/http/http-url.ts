import { createError } from '../core/index.js';

/** Completes an error about an address: what cannot be done, and who named the address. */
export interface AddressUse {
  readonly action: string;
  readonly where: string;
}

/**
 * An address that may be asked, without its fragment. Throws `registry/bad-address` unless it is http or https and without user
 * information. The text itself is not shown: it is foreign, and may hold a secret.
 */
export function parseHttpUrl(text: string, base: URL | undefined, { action, where }: AddressUse): URL {
  const refuse = (reason: string) =>
    createError('registry/bad-address', {
      message: `Cannot ${action}: ${reason}`,
      hint: 'Expected an address of http or https without user information: ask whoever runs the registry',
      where,
    });
  if (!URL.canParse(text, base?.href)) throw refuse('it is not a URL');
  const url = new URL(text, base);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refuse(`it is of the scheme "${url.protocol.slice(0, 20)}"`);
  if (url.username !== '' || url.password !== '') throw refuse('it holds user information');
  url.hash = '';
  return url;
}

/** For messages: without the query, which is the secret of a signed address. */
export function toPlainUrl(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** For connecting: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

export function toHostPort(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

/** This machine, whatever the network says. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(host) || host === '::1';
}
