import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TokenSigner } from '../../support/registry/token-jwt.js';
import { must } from './tools.js';

/** Files, PEM. */
export interface ServerCertificate {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
const bits = ['-newkey', 'rsa:2048', '-nodes'];

/** A certificate for loopback, and the authority that signed it. */
export function makeServerCertificate(folder: string): ServerCertificate {
  const [caFile, caKey, certFile, keyFile, requestFile, extensions] = [
    'ca.pem',
    'ca.key',
    'server.pem',
    'server.key',
    'server.csr',
    'server.ext',
  ].map((name) => join(folder, name)) as [string, string, string, string, string, string];
  must('openssl', ['req', '-x509', ...curve, '-keyout', caKey, '-out', caFile, '-days', '2', '-subj', '/CN=Test authority']);
  must('openssl', ['req', ...curve, '-keyout', keyFile, '-out', requestFile, '-subj', '/CN=localhost']);
  writeFileSync(extensions, 'subjectAltName=IP:127.0.0.1,IP:0.0.0.0,DNS:localhost\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n');
  const signed = ['-in', requestFile, '-CA', caFile, '-CAkey', caKey, '-set_serial', '2', '-days', '2', '-extfile', extensions, '-out', certFile];
  must('openssl', ['x509', '-req', ...signed]);
  return { caFile, certFile, keyFile };
}

/** A key that signs tokens, with the certificate that a registry is to trust (`rootcertbundle`) in `certFile`. */
export function makeTokenSigner(folder: string, algorithm: TokenSigner['algorithm']): { readonly signer: TokenSigner; readonly certFile: string } {
  const certFile = join(folder, `token-${algorithm}.pem`);
  const keyFile = join(folder, `token-${algorithm}.key`);
  const kind = algorithm === 'ES256' ? curve : bits;
  must('openssl', ['req', '-x509', ...kind, '-keyout', keyFile, '-out', certFile, '-days', '2', '-subj', '/CN=Test tokens']);
  return { certFile, signer: { algorithm, key: readFileSync(keyFile, 'utf8'), certificate: readFileSync(certFile, 'utf8') } };
}
