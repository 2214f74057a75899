import { Refusal } from './refusal.js';

export interface Page<T> {
  readonly entries: readonly T[];
  /** `Link` to the next page; absent on the last. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * One page of a sorted list: after `last`, at most `n` entries and never more than `most`. `n=0` gives nothing, and no link either. (distribution-spec
 * 1.1, Listing Tags)
 */
export function toPage<T>(sorted: readonly T[], keyOf: (entry: T) => string, query: URLSearchParams, path: string, most: number): Page<T> {
  const asked = parseCount(query.get('n'));
  const last = query.get('last');
  const start = last === null ? 0 : findAfter(sorted, keyOf, last);
  const entries = sorted.slice(start, start + Math.min(asked ?? most, most));
  const final = entries.at(-1);
  if (final === undefined || start + entries.length >= sorted.length) return { entries, headers: {} };
  const next = new URLSearchParams(query);
  next.set('last', keyOf(final));
  return { entries, headers: { Link: `<${path}?${next.toString()}>; rel="next"` } };
}

function parseCount(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Refusal(400, 'PAGINATION_NUMBER_INVALID', 'n is a whole number of entries', { detail: { n: text.slice(0, 100) } });
}

/** By halves; `last` itself need not be there. */
function findAfter<T>(sorted: readonly T[], keyOf: (entry: T) => string, last: string): number {
  let low = 0;
  for (let high = sorted.length; low < high;) {
    const middle = (low + high) >>> 1;
    if (keyOf(sorted[middle] as T) > last) high = middle;
    else low = middle + 1;
  }
  return low;
}
