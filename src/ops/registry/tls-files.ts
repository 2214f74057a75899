import { readFileSync } from 'node:fs';
import { toIoError } from '../../bytes/index.js';
import type { OpsContext } from '../context.js';
import { toAbsolute } from '../paths.js';
import type { ServeOptions } from './serve-options.js';

/** Certificate and key, as PEM texts; undefined where none are named. Read once, at the start. */
export function readTlsFiles({ tlsCert, tlsKey }: ServeOptions, context: OpsContext): { readonly cert: string; readonly key: string } | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const read = (file: string) => {
    const path = toAbsolute(file, context);
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw toIoError(error, 'read', path);
    }
  };
  return { cert: read(tlsCert), key: read(tlsKey) };
}
