import { createPrivateKey, randomUUID, sign, X509Certificate } from 'node:crypto';
import { type Access } from './token-scope.js';

/** What real registries check a token with: a key, and the certificate that they were told to trust. */
export interface TokenSigner {
  readonly algorithm: 'RS256' | 'ES256';
  /** PEM. */
  readonly key: string;
  /** PEM; goes out in the header of every token. */
  readonly certificate: string;
}

export interface Claims {
  readonly issuer: string;
  readonly service: string;
  readonly user: string;
  /** Both in seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly access: readonly Access[];
}

/** A JSON Web Token as the Docker registry reads it. */
export function signToken({ algorithm, key, certificate }: TokenSigner, claims: Claims): string {
  const header = { typ: 'JWT', alg: algorithm, x5c: [new X509Certificate(certificate).raw.toString('base64')] };
  const payload = {
    iss: claims.issuer,
    sub: claims.user,
    aud: claims.service,
    exp: claims.expiresAt,
    nbf: claims.issuedAt - 60,
    iat: claims.issuedAt,
    jti: randomUUID(),
    access: claims.access,
  };
  const signed = `${toPart(header)}.${toPart(payload)}`;
  // The signature of ES256 is r and s side by side; RSA has only one form. (RFC 7518, 3.4)
  const signature = sign('sha256', Buffer.from(signed), { key: createPrivateKey(key), dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

function toPart(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
