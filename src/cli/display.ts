import { randomUUID } from 'node:crypto';

/** Makes one text safe to show: control characters become visible escapes. */
export type Escape = (text: string) => string;

/** The same value with every text in it, keys too, made safe. One pass before rendering, so that no renderer can forget it. */
export function toDisplayable<T>(value: T, escape: Escape): T {
  return walk(value, escape) as T;
}

/** What is safe already is given back itself: of a list of thousands hardly anything is copied. */
function walk(value: unknown, escape: Escape): unknown {
  if (typeof value === 'string') return escape(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => walk(item, escape));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  const entries = Object.entries(value).map(([key, item]): [string, unknown, boolean] => {
    const safe = walk(item, escape);
    const safeKey = escape(key);
    return [safeKey, safe, safe === item && safeKey === key];
  });
  return entries.every(([, , isSame]) => isSame) ? value : Object.fromEntries(entries.map(([key, item]) => [key, item]));
}

/** DEL, the C1 controls, line separators and the marks that reorder text: JSON lets them stand, a terminal obeys them. */
const unsafeInJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The same JSON value, without a character that a terminal could act on. bigint stands as the number that it is, digit by digit. */
export function toJson(value: unknown, indent?: number): string {
  // A text of the value that looked like a marked number would have to guess the mark.
  const mark = `bigint:${randomUUID()}:`;
  const text = JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? mark + String(item) : item), indent);
  return text
    .replace(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1')
    .replace(unsafeInJson, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
