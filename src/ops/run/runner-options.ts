import { createError, isToolkitError } from '../../core/index.js';
import { parseTypedToml, type TomlTable, type TomlValue } from '../../text/index.js';
import type { OpsContext } from '../context.js';

const word = /^[A-Za-z_][\w./:+-]*$/;
const notText = /^(true|false|inf|nan)$/;

/** `NAME=VALUE` with a TOML value; a bare word is text. Later ones win. Throws `ops/bad-option`. */
export function parseRunnerOptions(words: readonly string[], { limits }: OpsContext): TomlTable {
  return Object.fromEntries(
    words.map((text) => {
      const equals = text.indexOf('=');
      if (equals < 1)
        throw createError('ops/bad-option', { message: `Cannot use --opt "${text}": expected NAME=VALUE`, hint: '--opt num_threads=2' });
      return [text.slice(0, equals), parseValue(text.slice(equals + 1), text, limits)] as const;
    }),
  );
}

function parseValue(value: string, text: string, limits: OpsContext['limits']): TomlValue {
  if (word.test(value) && !notText.test(value)) return value;
  try {
    const parsed = parseTypedToml(`value = ${value}\n`, '--opt', limits).value['value'];
    if (parsed !== undefined && isPlain(parsed)) return parsed;
  } catch (error) {
    if (!isToolkitError(error)) throw error;
  }
  throw createError('ops/bad-option', {
    message: `Cannot use --opt "${text}": expected a number, true, false or text as TOML writes them`,
    hint: `Quote text: --opt '${text.slice(0, text.indexOf('='))}="…"'`,
  });
}

function isPlain(value: TomlValue): boolean {
  return typeof value !== 'object';
}
