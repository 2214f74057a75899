import type { TomlTable, TomlValue } from '../../text/index.js';

/** True for a table; lists and dates are objects too. */
export function isTable(value: TomlValue | undefined): value is TomlTable {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);
}

export function tableIn(table: TomlTable, key: string): TomlTable | undefined {
  const value = table[key];
  return isTable(value) ? value : undefined;
}

/** What is no table in a list of tables is left out. */
export function tablesIn(table: TomlTable, key: string): readonly TomlTable[] {
  const value = table[key];
  return Array.isArray(value) ? (value as readonly TomlValue[]).filter(isTable) : [];
}

/** A text under another name; nothing where it is no text. */
export function textIn<K extends string>(table: TomlTable, key: string, name: K): { readonly [key in K]?: string } {
  const value = table[key];
  return (typeof value === 'string' ? { [name]: value } : {}) as { readonly [key in K]?: string };
}

/** An integer from 0 on that a number holds exactly. */
export function toSafeInteger(value: TomlValue | undefined): number | undefined {
  return typeof value === 'bigint' && value >= 0n && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : undefined;
}

/** For JSON and for runtimes: integers become numbers where those hold them and stay bigint elsewhere, dates become their text. */
export function toPlain(value: TomlValue): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return (value as readonly TomlValue[]).map(toPlain);
  return isTable(value) ? toPlainTable(value) : value;
}

export function toPlainTable(table: TomlTable): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [key, toPlain(value)]));
}
