import { isIP } from 'node:net';
import { createError } from '../../../core/index.js';

export interface ListenAddress {
  /** A name or an IP literal without brackets. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

const hostName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i;

/** `HOST:PORT`, `[::1]:PORT`; without a host only this machine is served. Throws `ops/bad-option`. */
export function parseListen(text: string): ListenAddress {
  const [, literal, name, digits = ''] = /^(?:(?:\[([^\]]*)\]|([^:[\]]*)):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const isHost = literal === undefined ? !name || isIP(name) === 4 || (hostName.test(name) && !/^[\d.]+$/.test(name)) : isIP(literal) === 6;
  if (digits !== '' && port <= 65_535 && isHost) return { host: literal ?? (name || '127.0.0.1'), port };
  throw createError('ops/bad-option', {
    message: `Cannot listen on ${JSON.stringify(text.slice(0, 100))}: expected HOST:PORT with a port of at most 65535`,
    hint: 'For example --listen 127.0.0.1:5000 or --listen [::1]:0, where port 0 is any free one',
  });
}
