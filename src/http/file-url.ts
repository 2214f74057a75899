import { escapeForDisplay } from '../bytes/index.js';
import { createError } from '../core/index.js';
import { hostOf, isLoopbackHost, toPlainUrl } from './http-url.js';

/** Of an address that is none, for messages. */
const shownCharacters = 200;

/**
 * The address of a file that may be asked for: https, or http to this machine, or to any with `plainHttp`; without user information. Throws
 * `http/unreachable-file`.
 */
export function parseFileUrl(text: string, plainHttp: boolean): URL {
  if (!URL.canParse(text)) throw refusedUrl(text, 'it is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refusedUrl(text, `it is of the scheme "${url.protocol.slice(0, 20)}"`);
  if (url.username !== '' || url.password !== '') throw refusedUrl(text, 'it holds a user or a password, which would end up in logs');
  assertSecure(url, plainHttp);
  url.hash = '';
  return url;
}

/** Also for the address that redirects led to. */
export function assertSecure(url: URL, plainHttp: boolean): void {
  if (url.protocol === 'https:' || plainHttp || isLoopbackHost(hostOf(url))) return;
  throw refusedUrl(url.href, 'it is http, and anybody on the way could change what comes', 'Use an https address, or allow it with --plain-http');
}

function refusedUrl(text: string, reason: string, hint = 'Expected an https address without user and password'): Error {
  const shown = showUrl(text);
  return createError('http/unreachable-file', { message: `Cannot fetch "${shown}": ${reason}`, hint, where: shown });
}

/** For messages: scheme, host and path. Queries are often signatures, user information is a secret by itself. */
export function showUrl(text: string): string {
  if (!URL.canParse(text))
    return escapeForDisplay(
      text
        .replace(/[?#].*$/s, '')
        .replace(/^.*@/s, '')
        .slice(0, shownCharacters),
    );
  const url = new URL(text);
  return url.origin === 'null' ? `${url.protocol}//${url.host}${url.pathname}` : toPlainUrl(url);
}
