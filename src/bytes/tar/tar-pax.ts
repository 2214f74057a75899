import { badArchive, toText } from './tar-header.js';

/** The records of a pax header that change what an entry is; all others are left alone. */
export interface PaxRecords {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: number;
  readonly mtime?: number;
  readonly uid?: number;
  readonly gid?: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The bytes of records whose values may hold anything. */
const binaryKeys = /^(SCHILY|LIBARCHIVE)\.(xattr|acl)\./;

/**
 * `LENGTH KEY=VALUE\n` after each other (POSIX.1-2017, pax Extended Header) → what they say. Refuses what readers understand
 * differently: a wrong length, a key twice, an empty or NUL-holding value, numbers in other forms, sparse files.
 */
export function parsePax(bytes: Buffer, where: string): PaxRecords {
  const records: Mutable<PaxRecords> = {};
  const seen = new Set<string>();
  for (let at = 0; at < bytes.length;) {
    const { key, value, end } = readRecord(bytes, at, where);
    if (seen.has(key)) throw badArchive(where, `a pax header says "${key}" twice`);
    seen.add(key);
    if (value.includes(0) && !binaryKeys.test(key)) throw badArchive(where, `the pax record "${key}" holds a NUL character`);
    apply(records, key, value, where);
    at = end;
  }
  return records;
}

function readRecord(bytes: Buffer, start: number, where: string): { key: string; value: Buffer; end: number } {
  const head = /^([1-9][0-9]{0,7}) /.exec(bytes.toString('latin1', start, start + 9));
  const end = start + Number(head?.[1] ?? 0);
  const equals = bytes.indexOf('=', start);
  const keyStart = start + (head?.[0].length ?? 0);
  if (head === null || end > bytes.length || equals <= keyStart || equals >= end || bytes[end - 1] !== 0x0a) {
    throw badArchive(where, `a pax header has a malformed record at byte ${start}`);
  }
  return { key: toText(bytes.subarray(keyStart, equals), where), value: bytes.subarray(equals + 1, end - 1), end };
}

function apply(records: Mutable<PaxRecords>, key: string, value: Buffer, where: string): void {
  if (key.startsWith('GNU.sparse.')) throw badArchive(where, 'it holds a sparse file, which has no one content');
  if (key === 'path' || key === 'linkpath') {
    if (value.length === 0) throw badArchive(where, `the pax record "${key}" is empty`);
    records[key] = toText(value, where);
  } else if (key === 'size') {
    records.size = toNumber(key, value, /^[0-9]+$/, where);
  } else if ((key === 'uid' || key === 'gid') && value.length > 0) {
    records[key] = toNumber(key, value, /^[0-9]+$/, where);
  } else if (key === 'mtime' && value.length > 0) {
    records.mtime = toNumber(key, value, /^-?[0-9]+(\.[0-9]*)?$/, where);
  }
}

function toNumber(key: string, value: Buffer, grammar: RegExp, where: string): number {
  const text = value.toString('latin1', 0, 40);
  const parsed = Number(text);
  if (value.length <= 40 && grammar.test(text) && Math.abs(parsed) <= Number.MAX_SAFE_INTEGER) return parsed;
  throw badArchive(where, `the pax record "${key}" is not a number that can be: ${JSON.stringify(text)}`);
}

/** One record; its length counts itself. */
export function toPaxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}
