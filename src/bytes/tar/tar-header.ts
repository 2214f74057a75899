import { isUtf8 } from 'node:buffer';
import { createError, type ToolkitError } from '../../core/index.js';

export const blockBytes = 512;

/** Where the fields of a header stand: offset and length. (POSIX.1-2017, pax, ustar Interchange Format) */
export const fields = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  linkName: [157, 100],
  magic: [257, 8],
  deviceMajor: [329, 8],
  deviceMinor: [337, 8],
  prefix: [345, 155],
} as const satisfies Record<string, readonly [offset: number, length: number]>;

export type NumberField = 'mode' | 'uid' | 'gid' | 'size' | 'mtime';

export const ustarMagic = 'ustar\x0000';

/** Bytes from the end of `size` bytes to the next block. */
export function paddingOf(size: number): number {
  return (blockBytes - (size % blockBytes)) % blockBytes;
}

/** The sum of all bytes, those of the checksum field itself counted as spaces. */
export function checksumOf(block: Uint8Array): number {
  const [start, length] = fields.checksum;
  let sum = 0x20 * length;
  for (let index = 0; index < start; index++) sum += block[index] as number;
  for (let index = start + length; index < blockBytes; index++) sum += block[index] as number;
  return sum;
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** What stands in one header block, before pax and GNU records override it. */
export interface TarHeader {
  readonly type: string;
  readonly name: string;
  readonly linkName: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly mtime: number;
}

/** One block → its fields. Throws `bytes/bad-archive` for a wrong checksum and for every number or text that two readers could understand differently. */
export function parseHeader(block: Buffer, where: string): TarHeader {
  const found = checksumOf(block);
  const expected = parseOctal(slice(block, 'checksum'));
  if (expected !== found) throw badArchive(where, `a header has the checksum ${expected ?? 'not a number'}, its bytes sum to ${found}`);
  const name = text(block, 'name', where);
  const prefix = slice(block, 'magic').toString('latin1', 0, 6) === 'ustar\0' ? text(block, 'prefix', where) : '';
  return {
    type: block.toString('latin1', fields.type[0], fields.type[0] + 1),
    name: prefix === '' ? name : `${prefix}/${name}`,
    linkName: text(block, 'linkName', where),
    mode: number(block, 'mode', where),
    uid: number(block, 'uid', where),
    gid: number(block, 'gid', where),
    size: number(block, 'size', where),
    mtime: number(block, 'mtime', where),
  };
}

function slice(block: Buffer, field: keyof typeof fields): Buffer {
  const [start, length] = fields[field];
  return block.subarray(start, start + length);
}

function text(block: Buffer, field: 'name' | 'linkName' | 'prefix', where: string): string {
  const [start, length] = fields[field];
  if (block[start] === 0) return '';
  const nul = block.indexOf(0, start);
  return toText(block.subarray(start, nul < 0 ? start + length : Math.min(nul, start + length)), where);
}

/** Names are UTF-8 or nothing: readers disagree on everything else. */
export function toText(bytes: Buffer, where: string): string {
  if (!isUtf8(bytes)) throw badArchive(where, `the name ${JSON.stringify(bytes.toString('latin1'))} is not UTF-8`);
  return bytes.toString('utf8');
}

function number(block: Buffer, field: NumberField, where: string): number {
  const bytes = slice(block, field);
  const value = ((bytes[0] as number) & 0x80) === 0 ? parseOctal(bytes) : parseBase256(bytes);
  if (value === undefined || !Number.isSafeInteger(value) || (value < 0 && field !== 'mtime')) {
    throw badArchive(where, `the ${field} of a header is not a number from 0 to 2^53: ${JSON.stringify(bytes.toString('latin1'))}`);
  }
  return value;
}

/** Spaces, octal digits, then only spaces and NULs; all blank is 0. */
function parseOctal(bytes: Buffer): number | undefined {
  const match = /^ *([0-7]*)[ \0]*$/.exec(bytes.toString('latin1'));
  return match === null ? undefined : Number.parseInt(`0${match[1]}`, 8);
}

/** GNU's form of large numbers: big-endian two's complement whose first bit only marks the form. */
function parseBase256(bytes: Buffer): number {
  const first = bytes[0] as number;
  const negative = (first & 0x40) !== 0;
  let value = negative ? (first | 0x80) - 0x100 : first & 0x7f;
  for (const byte of bytes.subarray(1)) value = value * 256 + byte;
  return value;
}

export function badArchive(where: string, reason: string): ToolkitError {
  return createError('bytes/bad-archive', {
    message: `Cannot read the tar archive "${where}": ${reason}`,
    hint: 'The archive is damaged or made to be misread: fetch or build it again',
    where,
  });
}
