import { comparePre, type FrameworkVersion, parseVersion } from './framework-version.js';

type Operator = '=' | '>' | '>=' | '<' | '<=' | '~' | '^';

interface Comparator {
  readonly operator: Operator;
  readonly major: bigint;
  /** Absent: any, as in `=1` and `1.*`. */
  readonly minor?: bigint;
  readonly patch?: bigint;
  readonly pre: readonly string[];
}

/** All comparators have to hold; none (`*`) takes every release. */
export interface VersionRequirement {
  readonly comparators: readonly Comparator[];
}

const mostComparators = 32;
const largest = 2n ** 64n - 1n;
const operator = /^(>=|<=|=|>|<|~|\^)/;
const identifiers = /^[-+][0-9A-Za-z.-]*/;

/**
 * A requirement as Rust's semver 1.0.16 takes it: comparators with commas between, bare means caret, `*`, `x` and `X` are wildcards, blanks may
 * stand around comparators but not inside versions. Not taken: `||`, hyphen ranges, leading zeros, numbers beyond 64 bits.
 */
export function parseVersionRequirement(text: string): VersionRequirement | { readonly problem: string } {
  if (text.length > 1000) return { problem: `it is ${text.length} characters long, at most 1000 are read` };
  const trimmed = text.replace(/^ +/, '');
  if (trimmed === '') return { problem: 'it is empty; "*" stands for any version' };
  if (/^[*xX] *$/.test(trimmed)) return { comparators: [] };
  if (trimmed.includes('||')) return { problem: '"||" is not known; comparators are joined by commas and all have to hold' };
  const comparators: Comparator[] = [];
  for (const part of trimmed.split(',')) {
    const comparator = parseComparator(part);
    if ('problem' in comparator) return comparator;
    comparators.push(comparator);
  }
  return comparators.length > mostComparators ? { problem: `it has more than ${mostComparators} comparators` } : { comparators };
}

function parseComparator(part: string): Comparator | { readonly problem: string } {
  const text = part.replaceAll(/^ +| +$/g, '');
  const sign = operator.exec(text)?.[0] as Operator | undefined;
  const version = text.slice(sign?.length ?? 0).replace(/^ +/, '');
  const quoted = JSON.stringify(text);
  if (version === '') return { problem: text === '' ? 'a comparator is empty' : `${quoted} has no version` };
  if (/^[*xX]$/.test(version)) return { problem: `the wildcard in ${quoted} has to be the only comparator, without an operator` };
  const [numbers, rest] = splitTail(version);
  const parts = numbers.split('.');
  if (parts.length > 3) return { problem: `${quoted} has more than three numbers` };
  const problem = judgeNumbers(parts, quoted) ?? judgeTail(rest, parts, quoted);
  if (problem !== undefined) return { problem };
  const [major = 0n, minor, patch] = parts.map((each) => (isWildcard(each) ? undefined : BigInt(each)));
  const pre = rest.startsWith('-') ? (rest.slice(1).split('+', 1)[0] ?? '').split('.') : [];
  const operatorOrDefault = sign ?? (parts.some(isWildcard) ? '=' : '^');
  return { operator: operatorOrDefault, major, ...(minor === undefined ? {} : { minor }), ...(patch === undefined ? {} : { patch }), pre };
}

function splitTail(version: string): [numbers: string, rest: string] {
  const at = /[-+]/.exec(version)?.index ?? version.length;
  return [version.slice(0, at), version.slice(at)];
}

function isWildcard(text: string): boolean {
  return text === '*' || text === 'x' || text === 'X';
}

function judgeNumbers(parts: readonly string[], quoted: string): string | undefined {
  for (const [at, part] of parts.entries()) {
    if (isWildcard(part) && at > 0) {
      if (!parts.slice(at).every(isWildcard)) return `a number follows the wildcard in ${quoted}`;
      continue;
    }
    if (!/^\d+$/.test(part)) return `expected a number and found ${JSON.stringify(part)} in ${quoted}`;
    if (part.length > 1 && part.startsWith('0')) return `the number ${part} in ${quoted} has a leading zero`;
    if (part.length > 20 || BigInt(part) > largest) return `the number ${part.slice(0, 24)} in ${quoted} does not fit 64 bits`;
  }
  return undefined;
}

/** Pre-release and build metadata, which only a whole version has. */
function judgeTail(rest: string, parts: readonly string[], quoted: string): string | undefined {
  if (rest === '') return undefined;
  if (parts.length < 3 || parts.some(isWildcard)) return `${JSON.stringify(rest)} in ${quoted} follows a version that is not whole`;
  const shown = identifiers.exec(rest.replace('+', '-'))?.[0];
  if (shown?.length !== rest.length) return `${JSON.stringify(rest)} in ${quoted} is neither a pre-release nor build metadata`;
  const [pre, build] = rest.startsWith('+') ? [undefined, rest.slice(1)] : rest.slice(1).split('+', 2);
  if ([pre, build].some((each) => each?.split('.').includes(''))) return `${JSON.stringify(rest)} in ${quoted} has an empty part`;
  if (pre?.split('.').some((each) => /^0\d+$/.test(each)) === true) return `${JSON.stringify(pre)} in ${quoted} has a leading zero`;
  return undefined;
}

/**
 * Whether a framework's version is meant; it is normalised first, and what cannot be fits only `*`. A pre-release is meant only where a
 * comparator names a pre-release of the same three numbers.
 */
export function matchesVersion(requirement: VersionRequirement, version: string): boolean {
  const { comparators } = requirement;
  const found = parseVersion(version);
  if (found === undefined) return comparators.length === 0;
  if (!comparators.every((comparator) => holds(comparator, found))) return false;
  return found.pre.length === 0 || comparators.some((each) => each.pre.length > 0 && compareNumbers(each, found) === 0);
}

function holds(comparator: Comparator, found: FrameworkVersion): boolean {
  switch (comparator.operator) {
    case '=':
      return isExact(comparator, found);
    case '>':
      return isBeyond(comparator, found, 1);
    case '>=':
      return isExact(comparator, found) || isBeyond(comparator, found, 1);
    case '<':
      return isBeyond(comparator, found, -1);
    case '<=':
      return isExact(comparator, found) || isBeyond(comparator, found, -1);
    case '~':
      return fitsTilde(comparator, found);
    case '^':
      return fitsCaret(comparator, found);
  }
}

function isExact({ major, minor, patch, pre }: Comparator, found: FrameworkVersion): boolean {
  if (found.major !== major || (minor !== undefined && found.minor !== minor) || (patch !== undefined && found.patch !== patch)) return false;
  return comparePre(found.pre, pre) === 0;
}

/** What the comparator leaves open is not beyond it: 1.5 is neither above nor below `1`. */
function isBeyond(comparator: Comparator, found: FrameworkVersion, direction: 1 | -1): boolean {
  const order = compareNumbers(comparator, found) || (comparator.patch === undefined ? 0 : comparePre(found.pre, comparator.pre));
  return order * direction > 0;
}

/** Of the numbers that the comparator has; positive when the found one is higher. */
function compareNumbers({ major, minor, patch }: Comparator, found: FrameworkVersion): number {
  return compare(found.major, major) || compare(found.minor, minor ?? found.minor) || compare(found.patch, patch ?? found.patch);
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other);
}

function fitsTilde({ major, minor, patch, pre }: Comparator, found: FrameworkVersion): boolean {
  if (found.major !== major || (minor !== undefined && found.minor !== minor)) return false;
  if (patch !== undefined && found.patch !== patch) return found.patch > patch;
  return comparePre(found.pre, pre) >= 0;
}

/** The leftmost number that is not zero stays. */
function fitsCaret({ major, minor, patch, pre }: Comparator, found: FrameworkVersion): boolean {
  if (found.major !== major) return false;
  if (minor === undefined) return true;
  if (patch === undefined) return major > 0n ? found.minor >= minor : found.minor === minor;
  if (found.minor !== minor) return major > 0n && found.minor > minor;
  if (found.patch !== patch) return (major > 0n || minor > 0n) && found.patch > patch;
  return comparePre(found.pre, pre) >= 0;
}
