import { escapeForDisplay } from '../../../bytes/index.js';
import { type KeyPath, showPath, type TomlValue } from '../../../text/index.js';
import { isTable } from '../toml-values.js';
import type { Item, TomlView } from './context.js';
import { type Breach, show } from './rule.js';

/** What a field has to hold. `expected` follows the word "expected". */
export interface FieldType {
  readonly expected: string;
  readonly fits: (value: TomlValue) => boolean;
}

export const text: FieldType = { expected: 'a text', fits: (value) => typeof value === 'string' };
export const table: FieldType = { expected: 'a table', fits: isTable };
export const count: FieldType = { expected: 'an integer from 0 on', fits: (value) => typeof value === 'bigint' && value >= 0n };
export const tables: FieldType = { expected: 'tables, each under [[…]]', fits: (value) => isListOf(value, isTable) };
export const texts: FieldType = { expected: 'a list of texts', fits: (value) => isListOf(value, (each) => typeof each === 'string') };
export const textTable: FieldType = {
  expected: 'a table of texts',
  fits: (value) => isTable(value) && Object.values(value).every((each) => typeof each === 'string'),
};

function isListOf(value: TomlValue, fits: (each: TomlValue) => boolean): boolean {
  return Array.isArray(value) && value.every((each: TomlValue) => fits(each));
}

/** One breach when the field is there and holds something else. */
export function expectType(view: TomlView, { table: holder, path }: Item, key: string, type: FieldType): Breach[] {
  const value = holder[key];
  return value === undefined || type.fits(value) ? [] : [wrong(view, [...path, key], value, type.expected)];
}

export function expectTypes(view: TomlView, item: Item, keys: readonly string[], type: FieldType): Breach[] {
  return keys.flatMap((key) => expectType(view, item, key, type));
}

/** One breach when the field is not there, or holds something else. */
export function require(view: TomlView, item: Item, key: string, type: FieldType): Breach[] {
  return item.table[key] === undefined ? [missing(view, item, key, `Write ${key} = …, ${type.expected}`)] : expectType(view, item, key, type);
}

export function wrong(view: TomlView, path: KeyPath, value: unknown, expected: string, hint = `Write ${expected}`): Breach {
  return { where: view.at(...path), message: `Cannot use ${name(path)} = ${show(value)}: expected ${expected}`, hint };
}

export function missing(view: TomlView, { path }: Item, key: string, hint: string): Breach {
  const holder = path.length === 0 ? 'it' : name(path);
  return { where: view.at(...path), message: `Cannot find "${key}"${holder === 'it' ? '' : ` in ${holder}`}: it is missing`, hint };
}

/** `input[0].dtype`, safe to show. */
export function name(path: KeyPath): string {
  const shown = escapeForDisplay(showPath(path));
  return shown.length > 120 ? `${shown.slice(0, 119)}…` : shown;
}

/** The texts among the values of a table, with their paths. */
export function textsIn(item: Item | undefined): readonly { readonly path: KeyPath; readonly key: string; readonly value: string }[] {
  if (item === undefined) return [];
  return Object.entries(item.table).flatMap(([key, value]) => (typeof value === 'string' ? [{ path: [...item.path, key], key, value }] : []));
}
