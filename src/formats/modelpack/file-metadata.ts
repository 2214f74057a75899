import { isJsonObject } from '../../core/index.js';

/** What a layer's annotation says of its file; a field that is absent or of the wrong type is left out. (annotations.md, FileMetadata) */
export interface FileMetadata {
  readonly name?: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly size?: number;
  /** Seconds since 1970. */
  readonly mtime?: number;
  readonly kind?: 'file' | 'directory' | 'symlink';
}

export interface ParsedFileMetadata {
  readonly metadata: FileMetadata;
  /** What was wrong, one sentence each. */
  readonly problems: readonly string[];
}

/** Tools write tar's number, its ASCII letter, or the file mode of Go shifted to the right: all three are understood. */
const kindsByFlag: Readonly<Record<number, FileMetadata['kind']>> = {
  0: 'file',
  48: 'file',
  5: 'directory',
  53: 'directory',
  128: 'directory',
  2: 'symlink',
  50: 'symlink',
  8: 'symlink',
};

const maxUint32 = 0xffff_ffff;

/** The value of the annotation → what can be used of it. Never throws. */
export function parseFileMetadata(text: string): ParsedFileMetadata {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { metadata: {}, problems: ['it is not JSON'] };
  }
  if (!isJsonObject(json)) return { metadata: {}, problems: ['it is not a JSON object'] };
  const problems: string[] = [];
  const take = <T>(key: string, expected: string, judge: (value: unknown) => T | undefined): T | undefined => {
    const judged = judge(json[key]);
    if (judged === undefined) problems.push(json[key] === undefined ? `"${key}" is missing` : `"${key}" is not ${expected}`);
    return judged;
  };
  const number = (max: number) => (value: unknown) =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= max ? (value as number) : undefined;
  const found = {
    name: take('name', 'text', (value) => (typeof value === 'string' && value !== '' ? value : undefined)),
    mode: take('mode', 'an unsigned 32-bit number', number(maxUint32)),
    uid: take('uid', 'an unsigned 32-bit number', number(maxUint32)),
    gid: take('gid', 'an unsigned 32-bit number', number(maxUint32)),
    size: take('size', 'a number of bytes', number(Number.MAX_SAFE_INTEGER)),
    mtime: take('mtime', 'a time of RFC 3339', parseTime),
    kind: take('typeflag', 'the flag of a file, folder or link', (value) => (typeof value === 'number' ? kindsByFlag[value] : undefined)),
  };
  return { metadata: Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)) as FileMetadata, problems };
}

/** RFC 3339 with a zone, also Go's zero time. */
export const rfc3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** RFC 3339 → whole seconds since 1970, rounded down; undefined for anything else. */
export function parseTime(value: unknown): number | undefined {
  if (typeof value !== 'string' || !rfc3339.test(value)) return undefined;
  const milliseconds = Date.parse(value.replace(/\.\d+/, '').toUpperCase());
  return Number.isNaN(milliseconds) ? undefined : milliseconds / 1000;
}

/** The annotation as it is written: all seven fields, owner 0, the time in UTC, tar's number as typeflag, so that equal files give equal text. */
export function formatFileMetadata(file: { name: string; mode: number; size: number; mtime: number; directory?: boolean }): string {
  const { name, mode, size, mtime } = file;
  return JSON.stringify({ name, mode, uid: 0, gid: 0, size, mtime: formatTime(mtime), typeflag: file.directory === true ? 5 : 0 });
}

/** Seconds since 1970 → RFC 3339 in UTC without a fraction. */
export function formatTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
}
