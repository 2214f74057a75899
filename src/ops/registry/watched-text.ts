import { readFileSync, statSync } from 'node:fs';
import { toIoError } from '../../bytes/index.js';
import { createError } from '../../core/index.js';
import type { OpsContext } from '../context.js';

/** Text of a file that a person may change meanwhile: the same text until the file is another or was written to. Throws when it cannot be read. */
export function watchText(path: string, { limits }: Pick<OpsContext, 'limits'>): () => string {
  let known = { identity: '', text: '' };
  return () => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
      if (size > limits.personFileBytes) throw tooLarge(path, size, limits.personFileBytes);
      const identity = `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
      if (known.identity !== identity) known = { identity, text: readFileSync(path, 'utf8') };
      return known.text;
    } catch (error) {
      throw toIoError(error, 'read', path);
    }
  };
}

function tooLarge(path: string, size: bigint, most: number): Error {
  return createError('bytes/limit', { message: `Cannot read "${path}": expected at most ${most} bytes, found ${size}`, where: path });
}
