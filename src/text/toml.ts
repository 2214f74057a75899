import { parse, TomlDate, TomlError } from 'smol-toml';
import { createError, type Limits, lineAndColumn } from '../core/index.js';
import { countValues } from './count-values.js';
import { type KeyPath, locateToml, type TomlPlace } from './locate-toml.js';
import type { Located } from './located.js';
import { assertPersonText } from './person-text.js';

/**
 * TOML → plain data. Dates become the text that was written (so that nothing of them is lost or rolled over).
 * Throws `buildfile/syntax` with line and column, also for an integer that a double cannot hold and for nesting beyond `limits.jsonDepth`.
 */
export function parseToml(text: string, file: string, limits: Limits): Located {
  const raw = parseWithin(text, file, limits, false);
  const findPlace = createPlaces(text);
  const value = toPlain(raw, [], (path) => {
    const place = findPlace(path);
    return place === undefined ? undefined : text.slice(place.start, place.end);
  });
  return { value, locate: (path) => locate(path, text, file, findPlace) };
}

/** A value with its type as it was written: integers are bigint (exact to 64 bits), floats are number, dates know their text. `writeToml` writes it back. */
export type TomlValue = string | bigint | number | boolean | TomlDate | readonly TomlValue[] | TomlTable;
export interface TomlTable {
  readonly [key: string]: TomlValue;
}

/** The same with the types kept, for what is written back. Throws as `parseToml` does. */
export function parseTypedToml(text: string, file: string, limits: Limits): Located & { readonly value: TomlTable } {
  const value = parseWithin(text, file, limits, true) as TomlTable;
  const findPlace = createPlaces(text);
  return { value, locate: (path) => locate(path, text, file, findPlace) };
}

function parseWithin(text: string, file: string, limits: Limits, typed: boolean): unknown {
  assertPersonText(text, file, limits);
  assertFewValues(text, file, limits.tomlValues);
  const raw = parseOrExplain(text, file, limits, typed);
  assertDepth(raw, file, limits.jsonDepth);
  return raw;
}

/** Found only when somebody asks for a place. */
function createPlaces(text: string): (path: KeyPath) => TomlPlace | undefined {
  let places: ReadonlyMap<string, TomlPlace> | undefined;
  return (path) => (places ??= locateToml(text)).get(JSON.stringify(path));
}

function parseOrExplain(text: string, file: string, limits: Limits, integersAsBigInt: boolean): unknown {
  try {
    return parse(text, { maxDepth: limits.jsonDepth, unsafeKeyBehaviour: 'throw', integersAsBigInt });
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const reason =
      cause.message
        .split('\n', 1)[0]
        ?.replace(/^Invalid TOML document: /, '')
        .replace(/\.+$/, '') ?? '';
    throw createError('buildfile/syntax', {
      message: `Cannot read "${file}" as TOML: ${reason} (line ${cause.line}, column ${cause.column})`,
      where: `${file}:${cause.line}:${cause.column}`,
      cause,
    });
  }
}

/** Three bytes become a table of a hundred: without this a small file would take all memory. */
function assertFewValues(text: string, file: string, limit: number): void {
  if (text.length <= limit || countValues(text) <= limit) return;
  throw createError('bytes/limit', { message: `Cannot read "${file}": it holds more than ${limit} values`, where: file });
}

/** Dotted keys nest too, and the parser does not count those. */
function assertDepth(root: unknown, file: string, limit: number): void {
  let level: unknown[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > limit)
      throw createError('buildfile/syntax', { message: `Cannot read "${file}" as TOML: it is nested deeper than ${limit} levels`, where: file });
    level = level.flatMap((value): unknown[] => (isTableOrList(value) ? Object.values(value) : []));
  }
}

function isTableOrList(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof TomlDate);
}

function toPlain(value: unknown, path: KeyPath, written: (path: KeyPath) => string | undefined): unknown {
  if (value instanceof TomlDate) return written(path) ?? value.toISOString();
  if (Array.isArray(value)) return value.map((item, index) => toPlain(item, [...path, index], written));
  if (!isTableOrList(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toPlain(item, [...path, key], written)]));
}

function locate(path: KeyPath, text: string, file: string, findPlace: (path: KeyPath) => TomlPlace | undefined): string {
  for (let length = path.length; length > 0; length--) {
    const place = findPlace(path.slice(0, length));
    if (place !== undefined) return `${file}:${lineAndColumn(text, place.key)}`;
  }
  return file;
}
