import { joinHeaders } from '../exchange.js';

/** The head of an answer whose body is framed by its length. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body. */
  readonly length: number;
  /** False when the server closes after this answer. */
  readonly isKept: boolean;
}

export type ParsedHead =
  | { readonly kind: 'final'; readonly head: AnswerHead }
  /** Another head follows. */
  | { readonly kind: 'interim' }
  /** Not wrong by itself, or wrong: a full parser has to look at it. */
  | { readonly kind: 'other' };

const other: ParsedHead = { kind: 'other' };

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;

/** No space before the colon, no folding, no control characters. (RFC 9112, 5) */
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*)$/;

/** Strict: takes only what no two parsers read differently. `text` is Latin-1, from the status line up to the empty line and without it. */
export function parseHead(text: string): ParsedHead {
  const [first = '', ...lines] = text.split('\r\n');
  const status = Number(statusLine.exec(first)?.[1]);
  const pairs = lines.map((line) => headerLine.exec(line));
  if (Number.isNaN(status) || pairs.includes(null)) return other;
  if (status < 200) return status === 101 ? other : { kind: 'interim' };
  const all = pairs.map((match) => [match?.[1]?.toLowerCase() ?? '', match?.[2]?.trimEnd() ?? ''] as const);
  const length = findLength(status, all);
  if (length === undefined) return other;
  const headers = joinHeaders(all);
  const isKept = !/(^|[\s,])close([\s,]|$)/i.test(headers['connection'] ?? '');
  return { kind: 'final', head: { status, headers, length, isKept } };
}

/** Undefined when something else than one Content-Length says where the body ends. (RFC 9112, 6.3) */
function findLength(status: number, pairs: readonly (readonly [string, string])[]): number | undefined {
  if (pairs.some(([name]) => name === 'transfer-encoding')) return undefined;
  if (status === 204 || status === 304) return 0;
  const lengths = new Set(pairs.flatMap(([name, value]) => (name === 'content-length' ? [value] : [])));
  const [length = ''] = lengths;
  return lengths.size === 1 && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}
