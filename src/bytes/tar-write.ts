import { createError, type TarMember } from '../core/index.js';
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
  for (const member of members) size += tarHeader(member).length + paddedSize(contentSize(member));
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
  const directory = member.content.kind === 'directory';
  const name = directory && !member.name.endsWith('/') ? `${member.name}/` : member.name;
  const size = contentSize(member);
  const mtime = Math.floor(member.mtime);
  if (name === '' || name.length > longestName || name.includes('\0') || !Number.isSafeInteger(mtime)) {
    throw createError('core/bug', { message: `Cannot write the tar member ${JSON.stringify(name.slice(0, 160))}: its name or its time (${mtime}) cannot be` });
  }
  const split = splitName(name);
  const records = [
    split === undefined ? toPaxRecord('path', name) : '',
    size < octalLimit ? '' : toPaxRecord('size', String(size)),
    mtime >= 0 && mtime < octalLimit ? '' : toPaxRecord('mtime', String(mtime)),
  ].join('');
  const header = ustarBlock(directory ? '5' : '0', split ?? fallbackName(name), member.mode, size, mtime);
  return records === '' ? header : Buffer.concat([paxHeader(Buffer.from(records), name), header]);
}

function paxHeader(records: Buffer, name: string): Buffer {
  const header = ustarBlock('x', fallbackName(`PaxHeaders.0/${name}`), 0o644, records.length, 0);
  return Buffer.concat([header, records], blockBytes + paddedSize(records.length));
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

function ustarBlock(type: string, { prefix, name }: SplitName, mode: number, size: number, mtime: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const put = (field: keyof typeof fields, text: string) => block.write(text, fields[field][0], 'latin1');
  const putNumber = (field: keyof typeof fields, value: number) => put(field, value.toString(8).padStart(fields[field][1] - 1, '0'));
  put('name', name);
  putNumber('mode', mode & 0o7777);
  putNumber('uid', 0);
  putNumber('gid', 0);
  putNumber('size', size < octalLimit ? size : 0);
  putNumber('mtime', mtime >= 0 && mtime < octalLimit ? mtime : 0);
  put('type', type);
  put('magic', ustarMagic);
  putNumber('deviceMajor', 0);
  putNumber('deviceMinor', 0);
  put('prefix', prefix);
  put('checksum', `${checksumOf(block).toString(8).padStart(6, '0')}\0 `);
  return block;
}
