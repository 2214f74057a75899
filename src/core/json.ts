import { createError } from './error.js';
import { defaultLimits } from './limits.js';

export interface JsonLimits {
  readonly bytes: number;
  readonly depth?: number;
}

/**
 * UTF-8 JSON → value, for documents that security rests on: a repeated key, a byte-order mark, invalid UTF-8, a document larger
 * than `limits.bytes` or nested deeper than `limits.depth` throws `core/bad-json` with line and column. Numbers are JavaScript
 * numbers: judge sizes with Number.isSafeInteger. (Plain JSON.parse keeps the last of two equal keys, so two readers may differ.)
 */
export function parseJson(bytes: Uint8Array, where: string, limits: JsonLimits): unknown {
  if (bytes.byteLength > limits.bytes) {
    throw createError('core/bad-json', {
      message: `Cannot read "${where}": it is ${bytes.byteLength} bytes long and at most ${limits.bytes} are read`,
      where,
    });
  }
  const text = decodeUtf8(bytes, where);
  assertKeysAndDepth(text, where, limits.depth ?? defaultLimits.jsonDepth);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw malformed(text, where, cause);
  }
}

function decodeUtf8(bytes: Uint8Array, where: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (text.startsWith('\ufeff')) throw new Error('it begins with a byte-order mark');
    return text;
  } catch (cause) {
    const reason = cause instanceof TypeError ? 'it is not UTF-8' : (cause as Error).message;
    throw createError('core/bad-json', { message: `Cannot read "${where}" as JSON: ${reason}`, where, cause });
  }
}

function malformed(text: string, where: string, cause: unknown): Error {
  const said = cause instanceof Error ? cause.message : String(cause);
  const position = /position (\d+)/.exec(said)?.[1];
  const place = position === undefined ? where : `${where}:${lineAndColumn(text, Number(position))}`;
  const reason = said.replace(/,? ?(\.\.\.)?"[^]*" is not valid JSON$/, '').replace(/ in JSON at position \d+.*$/s, '');
  return createError('core/bad-json', { message: `Cannot read "${where}" as JSON: ${reason}`, where: place, cause });
}

/** `line:column` of a character offset, both from 1. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return `${line}:${offset - before.lastIndexOf('\n')}`;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Walks the tokens that matter without building values; malformed text passes here and fails in JSON.parse. */
function assertKeysAndDepth(text: string, where: string, maxDepth: number): void {
  const open: (Set<string> | undefined)[] = [];
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const keys = open.at(-1);
      if (expectKey && keys !== undefined) addKey(keys, text, at, end, where);
      expectKey = false;
      at = end;
    } else if (code === 0x7b || code === 0x5b) {
      if (open.length >= maxDepth) throw refuse(text, where, at, `it is nested deeper than ${maxDepth} levels`);
      open.push(code === 0x7b ? new Set() : undefined);
      expectKey = code === 0x7b;
    } else if (code === 0x7d || code === 0x5d) {
      open.pop();
      expectKey = false;
    } else if (code === 0x2c) {
      expectKey = open.at(-1) !== undefined;
    }
  }
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    at += code === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

function addKey(keys: Set<string>, text: string, start: number, end: number, where: string): void {
  const raw = text.slice(start + 1, end);
  const key = raw.includes('\\') ? decodeKey(text.slice(start, end + 1)) : raw;
  if (keys.has(key)) throw refuse(text, where, start, `the key ${JSON.stringify(key.slice(0, 80))} stands twice in one object`);
  keys.add(key);
}

function decodeKey(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted;
  }
}

function refuse(text: string, where: string, offset: number, reason: string): Error {
  return createError('core/bad-json', {
    message: `Cannot read "${where}" as JSON: ${reason}`,
    where: `${where}:${lineAndColumn(text, offset)}`,
  });
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
