import { type Exchange } from './exchange.js';

/** Where something lies, for whoever asked under this host name. */
export function toUrl(exchange: Exchange, path: string): string {
  const scheme = 'encrypted' in exchange.request.socket ? 'https' : 'http';
  return `${scheme}://${exchange.url.host}${path}`;
}
