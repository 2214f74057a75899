import { createError } from '../core/index.js';

/** A compiled pattern over relative paths with `/`. */
export interface Glob {
  readonly pattern: string;
  /** The path that a pattern without wildcards names; a folder then stands for everything below it. `.` is the empty path. */
  readonly literal: string | undefined;
  matches(path: string): boolean;
}

type Many = '**';
interface CharacterClass {
  readonly negated: boolean;
  readonly ranges: readonly (readonly [string, string])[];
}
type Component = Many | ((name: string) => boolean);

/**
 * `*` and `?` stay inside one path component, `[a-z]` and `[!a-z]` (or `[^…]`) are one character, `**` as a whole component is any number of
 * components, a backslash takes the next character as it is; a leading `./` and a trailing `/` do not count. Hidden names match like
 * others. The work grows with pattern × path, never faster. Throws `buildfile/bad-glob`.
 */
export function compileGlob(pattern: string): Glob {
  const problem = findGlobProblem(pattern);
  if (problem !== undefined)
    throw createError('buildfile/bad-glob', {
      message: `Cannot use the pattern "${pattern}": ${problem}`,
      hint: 'Patterns know *, ?, [a-z] and ** between slashes',
    });
  const names = toComponents(pattern);
  const literal = names.some(isWild) ? undefined : names.map(unescape).join('/');
  if (literal !== undefined) return { pattern, literal, matches: (path) => path === literal || literal === '' || path.startsWith(`${literal}/`) };
  const components = names.map((name): Component => (name === '**' ? '**' : toNameTest(name)));
  if (components.at(-1) === '**') components.splice(-1, 0, () => true);
  return { pattern, literal: undefined, matches: (path) => matchSequence(components, path.split('/'), (test, name) => test(name)) };
}

/** True for a path that any of the patterns matches. Throws `buildfile/bad-glob`. */
export function compileGlobs(patterns: readonly string[]): (path: string) => boolean {
  const globs = patterns.map(compileGlob);
  return (path) => globs.some((glob) => glob.matches(path));
}

/** Why a pattern cannot be used, or undefined. */
export function findGlobProblem(pattern: string): string | undefined {
  if (pattern === '') return 'it is empty';
  if (pattern.includes('\0')) return 'it holds a NUL character';
  if (pattern.startsWith('/') || /^[A-Za-z]:[\\/]/.test(pattern)) return 'it is not relative to the folder';
  for (const name of toComponents(pattern)) {
    if (name === '..') return 'it leads out of the folder (..)';
    if (name === '') return 'it holds an empty name (//)';
    if (name !== '**' && /(?:^|[^\\])\*\*/.test(name)) return '** must stand alone between slashes, as in **/*.bin';
    const problem = parseName(name);
    if (typeof problem === 'string') return problem;
  }
  return undefined;
}

/** A pattern that matches exactly this path. */
export function escapeGlob(path: string): string {
  return path.replace(/[*?[\]\\]/g, '\\$&');
}

/** Go's `filepath.Match` knows no `**`: there it is the same as `*`. */
export function fromGoGlob(pattern: string): string {
  return pattern.replace(/(\\.)|\*+/gs, (whole, escaped: string | undefined) => (escaped === undefined ? '*' : whole));
}

function toComponents(pattern: string): string[] {
  const names = pattern
    .replace(/^(?:\.\/+)+/, '')
    .replace(/\/+$/, '')
    .split('/');
  return names.length === 1 && (names[0] === '.' || (names[0] === '' && pattern !== '')) ? [] : names;
}

function isWild(name: string): boolean {
  return /(?:^|[^\\])(?:\\\\)*[*?[]/.test(name);
}

function unescape(name: string): string {
  return name.replace(/\\(.)/gs, '$1');
}

/** The common shapes `name`, `*.ext` and `prefix*` need no tokens. */
function toNameTest(name: string): (candidate: string) => boolean {
  if (!isWild(name)) {
    const plain = unescape(name);
    return (candidate) => candidate === plain;
  }
  const [before, after, ...more] = name.split('*');
  if (before !== undefined && after !== undefined && more.length === 0 && !/[?[\\]/.test(name)) {
    return (candidate) => candidate.length >= before.length + after.length && candidate.startsWith(before) && candidate.endsWith(after);
  }
  const tokens = parseName(name);
  return (candidate) => typeof tokens !== 'string' && matchSequence(tokens, Array.from(candidate), matchesCharacter);
}

interface Character {
  readonly is: string;
}

type NameToken = Character | CharacterClass | '?' | Many;

/** The tokens of one path component, or what is wrong with it. */
function parseName(name: string): NameToken[] | string {
  const characters = Array.from(name);
  const tokens: NameToken[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    if (character === '*') tokens.push('**');
    else if (character === '?') tokens.push('?');
    else if (character === '[') {
      const found = parseClass(characters, at + 1);
      if (found === undefined) return 'a [ has no ] after it';
      tokens.push(found.token);
      at = found.end;
    } else if (character === '\\') {
      const next = characters[++at];
      if (next === undefined) return 'nothing follows the last backslash';
      tokens.push({ is: next });
    } else tokens.push({ is: character });
  }
  return tokens;
}

function parseClass(characters: readonly string[], start: number): { token: CharacterClass; end: number } | undefined {
  const negated = characters[start] === '!' || characters[start] === '^';
  const first = negated ? start + 1 : start;
  const ranges: [string, string][] = [];
  let at = first;
  const readOne = (): string => (characters[at] === '\\' ? (characters[(at += 2) - 1] ?? '') : (characters[at++] ?? ''));
  while (at < characters.length && (characters[at] !== ']' || at === first)) {
    const low = readOne();
    const isRange = characters[at] === '-' && at + 1 < characters.length && characters[at + 1] !== ']';
    if (isRange) at++;
    ranges.push([low, isRange ? readOne() : low]);
  }
  return at < characters.length ? { token: { negated, ranges }, end: at } : undefined;
}

function matchesCharacter(token: Exclude<NameToken, Many>, character: string): boolean {
  if (token === '?') return true;
  if ('is' in token) return token.is === character;
  return token.ranges.some(([low, high]) => low <= character && character <= high) !== token.negated;
}

/**
 * The one algorithm for `*` in a name and `**` in a path: after a wildcard the earliest match of what follows is as good as any
 * later one, so only the last wildcard is ever tried again.
 */
function matchSequence<One, Item>(
  pattern: readonly (One | Many)[],
  items: readonly Item[],
  matches: (one: Exclude<One, Many>, item: Item) => boolean,
): boolean {
  let at = 0;
  let position = 0;
  let resumeAt = -1;
  let resumePosition = 0;
  while (position < items.length) {
    const one = pattern[at];
    if (one === '**') {
      resumeAt = ++at;
      resumePosition = position;
    } else if (one !== undefined && matches(one as Exclude<One, Many>, items[position] as Item)) {
      at++;
      position++;
    } else if (resumeAt >= 0) {
      at = resumeAt;
      position = ++resumePosition;
    } else return false;
  }
  while (pattern[at] === '**') at++;
  return at === pattern.length;
}
