import { readFileSync, statSync } from 'node:fs';
import { toIoError } from '../bytes/index.js';
import { createError } from '../core/index.js';
import type { OpsContext } from './context.js';
import { toAbsolute } from './paths.js';

export interface Setting {
  readonly key: string;
  readonly value: string;
}

/** `key=value`, or `key=@file` for the text of a file (its last line break left out). Throws `ops/bad-option`. */
export async function parseSettings(words: readonly string[], context: OpsContext): Promise<Setting[]> {
  return words.map((word) => {
    const equals = word.indexOf('=');
    if (equals <= 0)
      throw createError('ops/bad-option', {
        message: `Cannot use --set "${word}": expected KEY=VALUE`,
        hint: 'For example --set licenses=Apache-2.0 or --set description=@README.md',
      });
    const value = word.slice(equals + 1);
    return { key: word.slice(0, equals), value: value.startsWith('@') ? readText(value.slice(1), context) : value };
  });
}

function readText(path: string, context: OpsContext): string {
  const absolute = toAbsolute(path, context);
  try {
    if (statSync(absolute).size > context.limits.personFileBytes)
      throw createError('bytes/limit', {
        message: `Cannot read "${path}": it is larger than ${context.limits.personFileBytes} bytes`,
        where: absolute,
      });
    return readFileSync(absolute, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw toIoError(error, 'read', absolute);
  }
}
