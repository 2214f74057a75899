import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { createError } from '../core/index.js';
import type { TlsOptions } from './http.js';

/** What every TLS connection of a client is made with. */
export interface TlsSettings {
  readonly secureContext: SecureContext;
  readonly rejectUnauthorized: boolean;
}

/** A bundle of all the roots there are is a quarter of this. */
const bundleBytes = 4 * 1024 * 1024;

/** Made once a client: reading all roots takes tens of milliseconds. Throws `registry/untrusted` for what is not PEM. */
export async function createTlsSettings(options: TlsOptions, env: Readonly<Record<string, string | undefined>>): Promise<TlsSettings> {
  const { ca, cert, key, insecure = false } = options;
  // Naming any takes the place of Node's own, so these are named too.
  const trusted = ca === undefined ? {} : { ca: [...rootCertificates, ...(await readExtraRoots(env['NODE_EXTRA_CA_CERTS'])), ca] };
  try {
    const secureContext = createSecureContext({ ...trusted, ...(cert === undefined ? {} : { cert }), ...(key === undefined ? {} : { key }) });
    return { secureContext, rejectUnauthorized: !insecure };
  } catch (error) {
    throw createError('registry/untrusted', {
      message: `Cannot use the certificates or the key that were given: ${error instanceof Error ? error.message : 'they cannot be read'}`,
      hint: 'They must be PEM files, and the key must belong to the certificate and have no passphrase',
    });
  }
}

/** Node goes on without the file as well when it cannot be read. */
async function readExtraRoots(path: string | undefined): Promise<string[]> {
  if (path === undefined || path === '') return [];
  try {
    return (await stat(path)).size <= bundleBytes ? [await readFile(path, 'utf8')] : [];
  } catch {
    return [];
  }
}
