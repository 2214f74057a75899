/** A version as Rust's semver orders it; build metadata counts for nothing and is not kept. */
export interface FrameworkVersion {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** Identifiers of a pre-release; empty for a release. */
  readonly pre: readonly string[];
}

const semver = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?$/;
const pythonic = /^(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.\d+)*(?:[._-]?post[._-]?\d*)?(?:[._-]?(a|b|c|rc|alpha|beta|pre|preview|dev)[._-]?(\d*).*)?$/i;
const words: Readonly<Record<string, string>> = { a: 'alpha', b: 'beta', c: 'rc', pre: 'rc', preview: 'rc' };

/**
 * What frameworks say of themselves → `major.minor.patch` with an optional pre-release, or undefined. `3.11.7+` (a Python built from its
 * sources) is 3.11.7, `1.13.1+cu117` is 1.13.1, `2.0.1a0` is 2.0.1-alpha.0, `3.11` is 3.11.0, a fourth number and post releases are dropped.
 */
export function normalizeVersion(text: string): string | undefined {
  const plain = (
    text
      .trim()
      .replace(/^v(?=\d)/i, '')
      .split('+', 1)[0] ?? ''
  ).slice(0, 200);
  const exact = semver.exec(plain);
  if (exact !== null) return join(exact.slice(1, 4), exact[4]?.split('.') ?? []);
  const [, major, minor = '0', patch = '0', word, number = ''] = pythonic.exec(plain) ?? [];
  if (major === undefined) return undefined;
  const name = word?.toLowerCase();
  return join([major, minor, patch], name === undefined ? [] : [words[name] ?? name, number === '' ? '0' : number]);
}

function join(numbers: readonly (string | undefined)[], pre: readonly string[]): string | undefined {
  if (pre.includes('')) return undefined;
  const release = numbers.map((number) => BigInt(number ?? 0)).join('.');
  return pre.length === 0 ? release : `${release}-${pre.map((each) => (/^\d+$/.test(each) ? String(BigInt(each)) : each)).join('.')}`;
}

/** Undefined for what `normalizeVersion` makes nothing of. */
export function parseVersion(text: string): FrameworkVersion | undefined {
  const [, major, minor, patch, pre] = semver.exec(normalizeVersion(text) ?? '') ?? [];
  if (major === undefined || minor === undefined || patch === undefined) return undefined;
  return { major: BigInt(major), minor: BigInt(minor), patch: BigInt(patch), pre: pre?.split('.') ?? [] };
}

/** Negative, 0 or positive. A release comes after its pre-releases, numbers before words, fewer identifiers before more. (semver 2.0.0, 11) */
export function comparePre(one: readonly string[], other: readonly string[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length;
  for (let at = 0; at < Math.min(one.length, other.length); at++) {
    const order = compareIdentifiers(one[at] ?? '', other[at] ?? '');
    if (order !== 0) return order;
  }
  return one.length - other.length;
}

function compareIdentifiers(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
  if (isNumber && isOtherNumber) return Number(BigInt(one) - BigInt(other) > 0n) - Number(BigInt(one) - BigInt(other) < 0n);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return one < other ? -1 : Number(one > other);
}
