import type { Limits, RandomAccess } from '../../core/index.js';
import { overLimit } from '../compression/over-limit.js';
import { badZip } from './bad-zip.js';
import { readSafe } from './zip-extra.js';
import { centralHeader, end64Locator, end64Record, endRecord, sentinel16, sentinel32 } from './zip-format.js';

/** The longest end record with its comment, the zip64 records before it, and what makes the number round. */
const tailBytes = 66 * 1024;

/** The list of an archive: where it lies and its bytes. */
export interface ZipDirectory {
  readonly offset: number;
  readonly entries: number;
  readonly bytes: Buffer;
}

/** What the end of an archive says of its list. `end` is where the first of the end records begins. */
interface DirectoryPlace {
  readonly entries: number;
  readonly offset: number;
  readonly size: number;
  readonly end: number;
}

/** Reads the central directory: one read where it lies in the last 66 KiB, else two. */
export async function readZipDirectory(source: RandomAccess, limits: Limits, where: string): Promise<ZipDirectory> {
  const start = Math.max(0, source.size - tailBytes);
  const tail = toBuffer(await source.read(start, source.size - start));
  const place = parseEnd(tail, start, where);
  judgePlace(place, limits, where);
  const inTail = tail.subarray(Math.max(0, place.offset - start), place.end - start);
  const before = place.offset < start ? toBuffer(await source.read(place.offset, Math.min(start, place.end) - place.offset)) : undefined;
  return { offset: place.offset, entries: place.entries, bytes: before === undefined ? inTail : Buffer.concat([before, inTail]) };
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function judgePlace({ entries, offset, size, end }: DirectoryPlace, limits: Limits, where: string): void {
  if (entries > limits.archiveEntries) throw overLimit(where, `its number of entries, ${entries},`, limits.archiveEntries);
  if (size > limits.zipDirectoryBytes) throw overLimit(where, `the size of its list, ${size} bytes,`, limits.zipDirectoryBytes);
  if (entries * centralHeader.bytes > size) throw badZip(where, `its list of ${entries} entries has only ${size} bytes`);
  if (offset + size === end) return;
  const reason =
    offset + size > end
      ? 'reaches into its end record'
      : 'does not reach up to its end record, so other bytes stand before the archive or behind its list';
  throw badZip(where, `its list of ${size} bytes at ${offset} ${reason}`);
}

/** `start` is where the tail begins in the file. */
function parseEnd(tail: Buffer, start: number, where: string): DirectoryPlace {
  const at = findEnd(tail, where);
  const field = (place: number) => tail.readUInt16LE(at + place);
  const plain: EndFields = {
    disk: field(endRecord.disk),
    directoryDisk: field(endRecord.directoryDisk),
    entriesHere: field(endRecord.entriesHere),
    entries: field(endRecord.entries),
    size: tail.readUInt32LE(at + endRecord.directoryBytes),
    offset: tail.readUInt32LE(at + endRecord.directory),
  };
  const locator = at - end64Locator.bytes;
  const isLarge = locator >= 0 && tail.readUInt32LE(locator) === end64Locator.signature;
  const at64 = locator - end64Record.bytes;
  const fields = isLarge ? parseEnd64(tail, at64, start, where) : plain;
  if (isLarge) judgeAgreement(plain, fields, where);
  if (fields.disk !== 0 || fields.directoryDisk !== 0 || fields.entries !== fields.entriesHere) throw badZip(where, 'it is one part of several');
  return { entries: fields.entries, offset: fields.offset, size: fields.size, end: start + (isLarge ? at64 : at) };
}

interface EndFields {
  readonly disk: number;
  readonly directoryDisk: number;
  readonly entriesHere: number;
  readonly entries: number;
  readonly size: number;
  readonly offset: number;
}

/** The last end record, whose comment ends the file; no other can be found, neither in that comment nor by reading forward. */
function findEnd(tail: Buffer, where: string): number {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(endRecord.signature);
  const last = tail.length - endRecord.bytes;
  const at = last < 0 ? -1 : tail.lastIndexOf(signature, last);
  if (at < 0) throw badZip(where, 'it has no end record: it is no zip, or cut off');
  const endsFile = (place: number) => place + endRecord.bytes + tail.readUInt16LE(place + endRecord.comment) === tail.length;
  if (!endsFile(at)) throw badZip(where, 'its last end record does not end the file: other bytes stand behind the archive, or a second end record');
  const before = (place: number) => (place === 0 ? -1 : tail.lastIndexOf(signature, place - 1));
  for (let other = before(at); other >= 0; other = before(other)) if (endsFile(other)) throw badZip(where, 'it has two end records');
  return at;
}

/** The large form stands right before its locator, which stands right before the end record. (APPNOTE 4.3.14, 4.3.15) */
function parseEnd64(tail: Buffer, at: number, start: number, where: string): EndFields {
  const locator = at + end64Record.bytes;
  const isThere = at >= 0 && tail.readUInt32LE(at) === end64Record.signature && readSafe(tail, locator + end64Locator.end64) === start + at;
  if (!isThere) throw badZip(where, 'its zip64 locator does not point to a zip64 end record right before it');
  if (readSafe(tail, at + end64Record.length) !== end64Record.bytes - 12) throw badZip(where, 'its zip64 end record has an unknown length');
  if (tail.readUInt32LE(locator + end64Locator.disk) !== 0 || tail.readUInt32LE(locator + end64Locator.disks) !== 1) {
    throw badZip(where, 'it is one part of several');
  }
  const number = (place: number) => {
    const value = readSafe(tail, at + place);
    if (value === undefined) throw badZip(where, 'a number in its zip64 end record is larger than 2^53');
    return value;
  };
  return {
    disk: tail.readUInt32LE(at + end64Record.disk),
    directoryDisk: tail.readUInt32LE(at + end64Record.directoryDisk),
    entriesHere: number(end64Record.entriesHere),
    entries: number(end64Record.entries),
    size: number(end64Record.directoryBytes),
    offset: number(end64Record.directory),
  };
}

/** A field of the small record either leaves it to the large one or says the same. */
function judgeAgreement(plain: EndFields, large: EndFields, where: string): void {
  for (const key of Object.keys(plain) as (keyof EndFields)[]) {
    const sentinel = key === 'size' || key === 'offset' ? sentinel32 : sentinel16;
    if (plain[key] !== sentinel && plain[key] !== large[key]) throw badZip(where, `its two end records disagree: ${plain[key]} and ${large[key]}`);
  }
}
