import { createError, type TarMember } from '../../core/index.js';
import { blockBytes, checksumOf, fields, paddingOf, ustarMagic } from './tar-header.js';
import { toPaxRecord } from './tar-pax.js';

/** Two zero blocks; no blocking factor, so that the size is the same for every reader and writer. */
export const tarEndBytes = 2 * blockBytes;

/** Longer than any file system allows, short enough that headers stay small. */
const longestName = 65_536;

/** The first value that does not fit 11 octal digits. */
const octalLimit = 8 ** 11;

/** Bytes of the whole archive, known before a byte is read. */
export function tarSize(members: readonly TarMember[]): number {
  let size = tarEndBytes;
  for (const member of members) size += headerSize(toHeader(member)) + paddedSize(contentSize(member));
  return size;
}

function paddedSize(size: number): number {
  return size + paddingOf(size);
}

/** Bytes of a member's content; 0 for a folder. */
export function contentSize(member: TarMember): number {
  return member.content.kind === 'directory' ? 0 : member.content.size;
}

/**
 * The header of one member: ustar, and a pax header before it only where ustar cannot say it. The same member gives the same
 * bytes everywhere: owner 0, no names of owners, whole seconds.
 */
export function tarHeader(member: TarMember): Buffer {
  const header = toHeader(member);
  const ustar = ustarBlock(header);
  return header.records === '' ? ustar : Buffer.concat([paxHeader(header), ustar]);
}

interface Header {
  readonly type: '0' | '5' | 'x';
  readonly name: SplitName;
  readonly mode: number;
  readonly size: number;
  readonly mtime: number;
  /** What ustar cannot say, as pax records. */
  readonly records: string;
}

function toHeader(member: TarMember): Header {
  const directory = member.content.kind === 'directory';
  const name = directory && !member.name.endsWith('/') ? `${member.name}/` : member.name;
  const size = contentSize(member);
  const mtime = Math.floor(member.mtime);
  if (name === '' || name.length > longestName || name.includes('\0') || !Number.isSafeInteger(mtime)) {
    throw createError('core/bug', {
      message: `Cannot write the tar member ${JSON.stringify(name.slice(0, 160))}: its name or its time (${mtime}) cannot be`,
    });
  }
  const split = splitName(name);
  const records =
    (split === undefined ? toPaxRecord('path', name) : '') +
    (fitsOctal(size) ? '' : toPaxRecord('size', String(size))) +
    (fitsOctal(mtime) ? '' : toPaxRecord('mtime', String(mtime)));
  return { type: directory ? '5' : '0', name: split ?? fallbackName(name), mode: member.mode, size, mtime, records };
}

function headerSize({ records }: Header): number {
  return records === '' ? blockBytes : 2 * blockBytes + paddedSize(Buffer.byteLength(records));
}

function paxHeader(header: Header): Buffer {
  const records = Buffer.from(header.records);
  const ustar = ustarBlock({
    type: 'x',
    name: fallbackName(`PaxHeaders.0/${header.name.name}`),
    mode: 0o644,
    size: records.length,
    mtime: 0,
    records: '',
  });
  return Buffer.concat([ustar, records], blockBytes + paddedSize(records.length));
}

function fitsOctal(value: number): boolean {
  return value >= 0 && value < octalLimit;
}

interface SplitName {
  readonly prefix: string;
  readonly name: string;
}

/** `prefix/name` cut so that both fit; undefined where they do not, or where the name is not ASCII. */
function splitName(name: string): SplitName | undefined {
  if (!/^\p{ASCII}*$/u.test(name)) return undefined;
  if (name.length <= fields.name[1]) return { prefix: '', name };
  const slash = name.indexOf('/', name.length - fields.name[1] - 1);
  if (slash <= 0 || slash > fields.prefix[1] || slash === name.length - 1) return undefined;
  return { prefix: name.slice(0, slash), name: name.slice(slash + 1) };
}

/** What a reader without pax shows. */
function fallbackName(name: string): SplitName {
  const slash = name.endsWith('/') ? '/' : '';
  const plain = name.slice(0, name.length - slash.length).replace(/\P{ASCII}/gu, '_');
  return { prefix: '', name: plain.slice(0, fields.name[1] - slash.length) + slash };
}

function ustarBlock({ type, name, mode, size, mtime }: Header): Buffer {
  const block = Buffer.alloc(blockBytes);
  const put = (field: keyof typeof fields, text: string) => block.write(text, fields[field][0], 'latin1');
  const putNumber = (field: keyof typeof fields, value: number) => put(field, value.toString(8).padStart(fields[field][1] - 1, '0'));
  put('name', name.name);
  putNumber('mode', mode & 0o7777);
  putNumber('uid', 0);
  putNumber('gid', 0);
  putNumber('size', fitsOctal(size) ? size : 0);
  putNumber('mtime', fitsOctal(mtime) ? mtime : 0);
  put('type', type);
  put('magic', ustarMagic);
  putNumber('deviceMajor', 0);
  putNumber('deviceMinor', 0);
  put('prefix', name.prefix);
  put('checksum', `${checksumOf(block).toString(8).padStart(6, '0')}\0 `);
  return block;
}
