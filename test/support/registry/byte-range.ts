/** What a Range header asks for. `start` inclusive, `end` exclusive. */
export type AskedRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' };

/** Several ranges, and what is no range, are passed over. (RFC 9110, 14.2) */
export function parseRange(header: string | undefined, size: number): AskedRange {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return { kind: 'whole' };
  if (first === '')
    return last === '0' || size === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', start: Math.max(0, size - Number(last)), end: size };
  const start = Number(first);
  const end = last === '' ? size : Math.min(size, Number(last) + 1);
  if (last !== '' && Number(last) < start) return { kind: 'whole' };
  return start >= size ? { kind: 'unsatisfiable' } : { kind: 'part', start, end };
}
