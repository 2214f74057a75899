/** What of a body is wanted; `end` is the first byte that is not. */
export type WantedRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' };

/**
 * `bytes=first-last`, `bytes=first-` and `bytes=-count`. Several ranges and other units are answered with the whole, as RFC 9110, 14.2 allows; a range that
 * ends before it begins is refused, as a client that gets the whole for it would take it for the part.
 */
export function parseByteRange(field: string | undefined, size: number): WantedRange {
  const match = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(field ?? '');
  const [first = '', last = ''] = match?.slice(1) ?? [];
  if (first === '' && last === '') return { kind: 'whole' };
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  return start < end ? { kind: 'part', start, end } : { kind: 'unsatisfiable' };
}

/** `Content-Range` of a piece of an upload: `first-last`, both included, without a unit; the form with a unit is taken too. (distribution-spec 1.1, Pushing a blob in chunks) */
export function parsePieceRange(field: string): { readonly start: number; readonly end: number } | undefined {
  const match = /^(?:bytes[ =])?(\d{1,16})-(\d{1,16})(?:\/(?:\d+|\*))?$/.exec(field.trim());
  if (match === null) return undefined;
  const start = Number(match[1]);
  const end = Number(match[2]) + 1;
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && start < end ? { start, end } : undefined;
}
