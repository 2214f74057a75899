import { parse } from 'smol-toml';

/** Keys of tables and indexes of arrays, from the root. */
export type KeyPath = readonly (string | number)[];

/** Offsets in the text: where the key stands (for a list element the element itself) and the extent of its value. */
export interface TomlPlace {
  readonly key: number;
  readonly start: number;
  readonly end: number;
}

interface Walk {
  readonly text: string;
  at: number;
  /** The table that the last header opened. */
  table: KeyPath;
  /** Arrays of tables by path, with the number of headers seen. */
  readonly counts: Map<string, number>;
  readonly places: Map<string, TomlPlace>;
}

interface Key {
  readonly name: string;
  readonly at: number;
}

/**
 * Where each key and value of a TOML text stands, under `JSON.stringify(path)`; a header `[a.b]` is the place of its last key.
 * The text must have been accepted by the TOML parser, which gives no positions itself: so nothing is judged here, only walked.
 */
export function locateToml(text: string): ReadonlyMap<string, TomlPlace> {
  const walk: Walk = { text, at: 0, table: [], counts: new Map(), places: new Map() };
  for (skipSpace(walk); walk.at < text.length; skipSpace(walk)) {
    const before = walk.at;
    if (text[walk.at] === '[') walkHeader(walk);
    else walkPair(walk, walk.table);
    if (walk.at === before) break;
  }
  return walk.places;
}

function walkHeader(walk: Walk): void {
  const brackets = walk.text.startsWith('[[', walk.at) ? 2 : 1;
  walk.at += brackets;
  const keys = walkKeys(walk);
  const names = keys.map((key) => key.name);
  walk.at += brackets;
  if (brackets === 2) {
    const array = JSON.stringify([...enter(walk, names.slice(0, -1)), ...names.slice(-1)]);
    walk.counts.set(array, (walk.counts.get(array) ?? 0) + 1);
  }
  const place = { key: keys.at(-1)?.at ?? walk.at, start: walk.at, end: walk.at };
  names.forEach((_, index) => mark(walk, enter(walk, names.slice(0, index + 1)), place));
  walk.table = enter(walk, names);
  if (brackets === 2) mark(walk, walk.table.slice(0, -1), place);
}

/** The table that a header's keys lead to: through an array of tables, its newest one. */
function enter(walk: Walk, keys: readonly string[]): KeyPath {
  const path: (string | number)[] = [];
  for (const key of keys) {
    path.push(key);
    const count = walk.counts.get(JSON.stringify(path));
    if (count !== undefined) path.push(count - 1);
  }
  return path;
}

function walkPair(walk: Walk, base: KeyPath): void {
  const keys = walkKeys(walk);
  walk.at++;
  skip(walk, blanks);
  const start = walk.at;
  const path = [...base, ...keys.map((key) => key.name)];
  walkValue(walk, path);
  keys.forEach((key, index) => mark(walk, path.slice(0, base.length + index + 1), { key: key.at, start, end: walk.at }));
}

function walkKeys(walk: Walk): Key[] {
  const keys = [walkKey(walk)];
  for (skip(walk, blanks); walk.text[walk.at] === '.'; skip(walk, blanks)) {
    walk.at++;
    keys.push(walkKey(walk));
  }
  return keys;
}

function walkKey(walk: Walk): Key {
  skip(walk, blanks);
  const start = walk.at;
  const isQuoted = isQuote(walk.text[start]);
  if (isQuoted) skipString(walk);
  else skip(walk, bareKey);
  const written = walk.text.slice(start, walk.at);
  return { name: isQuoted ? readQuoted(written) : written, at: start };
}

function readQuoted(written: string): string {
  const { key } = parse(`key = ${written}`);
  return typeof key === 'string' ? key : written;
}

function walkValue(walk: Walk, path: KeyPath): void {
  const first = walk.text[walk.at];
  if (isQuote(first)) skipString(walk);
  else if (first === '[') walkList(walk, ']', (index) => walkElement(walk, [...path, index]));
  else if (first === '{') walkList(walk, '}', () => walkPair(walk, path));
  else {
    const start = walk.at;
    skip(walk, scalar);
    walk.at = start + walk.text.slice(start, walk.at).trimEnd().length;
  }
}

function walkElement(walk: Walk, path: KeyPath): void {
  const start = walk.at;
  walkValue(walk, path);
  mark(walk, path, { key: start, start, end: walk.at });
}

function walkList(walk: Walk, close: string, walkOne: (index: number) => void): void {
  walk.at++;
  for (let index = 0; walk.at < walk.text.length; index++) {
    skipSpace(walk);
    if (walk.text[walk.at] === close) break;
    walkOne(index);
    skipSpace(walk);
    if (walk.text[walk.at] === ',') walk.at++;
  }
  walk.at++;
}

/** Past a string in any of its four forms. */
function skipString(walk: Walk): void {
  const quote = walk.text.charAt(walk.at);
  const end = walk.text.startsWith(quote.repeat(3), walk.at) ? quote.repeat(3) : quote;
  walk.at += end.length;
  while (walk.at < walk.text.length && !walk.text.startsWith(end, walk.at)) walk.at += quote === '"' && walk.text[walk.at] === '\\' ? 2 : 1;
  walk.at += end.length;
  if (end.length === 3) skip(walk, quotesBeforeTheEnd);
}

function skipSpace(walk: Walk): void {
  for (skip(walk, whiteSpace); walk.text[walk.at] === '#'; skip(walk, whiteSpace)) skip(walk, comment);
}

function skip(walk: Walk, pattern: RegExp): void {
  pattern.lastIndex = walk.at;
  walk.at += pattern.exec(walk.text)?.[0].length ?? 0;
}

function mark(walk: Walk, path: KeyPath, place: TomlPlace): void {
  const name = JSON.stringify(path);
  if (!walk.places.has(name)) walk.places.set(name, place);
}

function isQuote(character: string | undefined): boolean {
  return character === '"' || character === "'";
}

const blanks = /[ \t]*/y;
const whiteSpace = /[ \t\r\n]*/y;
const comment = /[^\n]*/y;
const bareKey = /[A-Za-z0-9_-]*/y;
const scalar = /[^,\]}#\r\n]*/y;
/** A multi-line string may hold one or two quotes right before its end. */
const quotesBeforeTheEnd = /["']{0,2}/y;
