import { isSystemError } from '../bytes/index.js';
import { createCancelled, createError, isToolkitError } from '../core/index.js';
import type { Exchange } from './exchange.js';
import { toHostPort, toPlainUrl } from './http-url.js';

type Target = Pick<Exchange, 'method' | 'url' | 'signal'>;

const unreachable: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: 'its name cannot be looked up at the moment',
  EHOSTUNREACH: 'there is no way to this host',
  ENETUNREACH: 'there is no way to its network',
  EADDRNOTAVAIL: 'there is no way to this address',
  ETIMEDOUT: 'it does not answer',
};

const untrusted: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: 'it was signed by an authority that this system does not know',
  UNABLE_TO_GET_ISSUER_CERT: 'it was signed by an authority that this system does not know',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'it was signed by an authority that this system does not know',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'it was signed by an authority that this system does not know, or certificates in between were not sent',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it was signed by nobody but itself',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet; is the clock right?',
  CERT_REVOKED: 'it was revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it was made for another host',
  HOSTNAME_MISMATCH: 'it was made for another host',
};

/** Other codes of OpenSSL's verification. */
const verification = /^(CERT_|UNABLE_TO_|CRL_|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED|ERROR_IN_CERT)/;

/** An http answer where TLS was expected. */
const notTls = /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|packet length too long|HTTP_REQUEST|http request/;

/** What kept an answer from coming, or from coming to its end → an error that names the address without its query. ToolkitErrors pass unchanged. */
export function toTransportError(error: unknown, target: Target): Error {
  if (isToolkitError(error)) return error;
  if (target.signal?.aborted === true) return cancelled(target.signal);
  const code = isSystemError(error) ? error.code : '';
  const reason = unreachable[code];
  if (reason !== undefined) return unreachableError(target, reason, 'Check the name and the port, the network, and HTTPS_PROXY and NO_PROXY', error);
  if (code in untrusted || verification.test(code)) return untrustedError(target, untrusted[code] ?? `its check ended with ${code}`, error);
  const text = error instanceof Error ? error.message : '';
  if (notTls.test(code) || (code === 'EPROTO' && notTls.test(text))) {
    return unreachableError(target, 'it does not speak TLS', 'If it is a registry without TLS, add --plain-http', error);
  }
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return unreachableError(target, `the TLS handshake failed (${code})`, undefined, error);
  // Without its cause, which holds the bytes that were read.
  if (code.startsWith('HPE_')) return badAnswer(target, `what came is not HTTP (${code})`);
  return interrupted(target, 'the connection broke off', error);
}

export function cancelled(signal: AbortSignal): Error {
  return createCancelled(signal.reason);
}

export function interrupted({ method, url }: Target, reason: string, cause?: unknown): Error {
  return createError('registry/interrupted', {
    message: `Cannot ${method} "${toPlainUrl(url)}": ${reason}`,
    hint: 'Run the same command again: it goes on where it stopped',
    where: toPlainUrl(url),
    cause,
  });
}

export function unreachableError({ url }: Target, reason: string, hint: string | undefined, cause?: unknown): Error {
  return createError('registry/unreachable', { message: `Cannot reach "${toHostPort(url)}": ${reason}`, hint, where: toHostPort(url), cause });
}

export function badAnswer({ method, url }: Target, reason: string): Error {
  return createError('registry/bad-answer', {
    message: `Cannot ${method} "${toPlainUrl(url)}": ${reason}`,
    hint: 'Check the address: something else than a registry may answer there',
    where: toPlainUrl(url),
  });
}

function untrustedError({ url }: Target, reason: string, cause: unknown): Error {
  return createError('registry/untrusted', {
    message: `Cannot trust the certificate of "${toHostPort(url)}": ${reason}`,
    hint: 'Name the authority that signed it with --ca-file FILE, or skip the check with --insecure',
    where: toHostPort(url),
    cause,
  });
}
