import { isUtf8 } from 'node:buffer';
import type { Limits } from '../../core/index.js';
import { TwinFinder } from '../path-twins.js';
import { judgePath, unsafePath } from '../safe-path.js';
import { badZip, refusedZipEntry } from './bad-zip.js';
import type { ZipDirectory } from './zip-end.js';
import type { ZipEntry, ZipRecord } from './zip-entry.js';
import { assertSameName, parseExtra, type Refuse, Zip64Values } from './zip-extra.js';
import { centralHeader as central, flags, knownFlags, localHeader, methodNumbers, sentinel16, sentinel32, type ZipMethod } from './zip-format.js';
import { kindOf } from './zip-kind.js';

/** The list of an archive → its records, sorted by where they lie. Everything that the list alone can show is judged. */
export function parseZipDirectory({ bytes, entries, offset }: ZipDirectory, limits: Limits, where: string): ZipRecord[] {
  const records: Parsed[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = endOfRecord(bytes, at);
    if (end === undefined) throw badZip(where, `entry ${records.length + 1} of its list is cut off or no entry`);
    records.push(parseRecord(bytes.subarray(at, end), limits, where));
    at = end;
  }
  if (records.length !== entries) throw badZip(where, `its list holds ${records.length} entries, its end record says ${entries}`);
  judgeTwins(records, where);
  return withBoundaries(records, offset, where);
}

type Parsed = Omit<ZipRecord, 'boundary'>;

function endOfRecord(bytes: Buffer, at: number): number | undefined {
  if (at + central.bytes > bytes.length || bytes.readUInt32LE(at) !== central.signature) return undefined;
  const end =
    at + central.bytes + bytes.readUInt16LE(at + central.name) + bytes.readUInt16LE(at + central.extra) + bytes.readUInt16LE(at + central.comment);
  return end > bytes.length ? undefined : end;
}

function parseRecord(bytes: Buffer, limits: Limits, where: string): Parsed {
  const nameEnd = central.bytes + bytes.readUInt16LE(central.name);
  const name = bytes.subarray(central.bytes, nameEnd);
  const path = toPath(name, limits, where);
  const refuse: Refuse = (reason) => {
    throw badZip(where, reason, path);
  };
  const method = judgeCoding(bytes, path, where);
  const extra = parseExtra(bytes.subarray(nameEnd, nameEnd + bytes.readUInt16LE(central.extra)), refuse);
  assertSameName(extra, name, refuse);
  const large = new Zip64Values(extra.zip64, refuse);
  const size = large.take(bytes.readUInt32LE(central.size), sentinel32, 8);
  const packed = large.take(bytes.readUInt32LE(central.packed), sentinel32, 8);
  const headerOffset = large.take(bytes.readUInt32LE(central.offset), sentinel32, 8);
  if (large.take(bytes.readUInt16LE(central.disk), sentinel16, 4) !== 0) refuse('it lies in another part of the archive');
  large.finish();
  const entry: ZipEntry = {
    path,
    ...kindOf(bytes, name.at(-1) === slash, path, where),
    size,
    mtime: toSeconds(bytes.readUInt16LE(central.date), bytes.readUInt16LE(central.time)),
    crc32: bytes.readUInt32LE(central.crc),
    packed: { method, size: packed },
    headerOffset,
  };
  judgeSizes(entry, refuse);
  return { entry, name, flags: bytes.readUInt16LE(central.flags), method: bytes.readUInt16LE(central.method) };
}

const slash = 0x2f;

/** Names are UTF-8, whether flagged so or not: readers disagree on everything else. */
function toPath(name: Buffer, limits: Limits, where: string): string {
  if (!isUtf8(name)) throw unsafePath(name.toString('latin1'), where, 'it is not valid UTF-8');
  const text = name.toString('utf8');
  const path = text.endsWith('/') ? text.slice(0, -1) : text;
  const reason = judgePath(path, limits);
  if (reason !== undefined) throw unsafePath(text, where, reason);
  return path;
}

function judgeCoding(bytes: Buffer, path: string, where: string): ZipMethod {
  const bits = bytes.readUInt16LE(central.flags);
  if ((bits & flags.encrypted) !== 0) throw refusedZipEntry(where, 'it is encrypted', path);
  const unknown = bits & ~knownFlags;
  if (unknown !== 0) throw refusedZipEntry(where, `it has the flags 0x${unknown.toString(16)}, which no reader here knows`, path);
  const number = bytes.readUInt16LE(central.method);
  const method = (Object.keys(methodNumbers) as ZipMethod[]).find((each) => methodNumbers[each] === number);
  if (method === undefined) throw refusedZipEntry(where, `it is compressed by method ${number}, expected 0 (stored), 8 (deflate) or 93 (zstd)`, path);
  return method;
}

/** The most that an empty folder takes once it is "compressed", as some tools do. */
const emptyPacked = 16;

function judgeSizes({ kind, size, packed, crc32 }: ZipEntry, refuse: Refuse): void {
  if (packed.method === 'none' && size !== packed.size) refuse(`it is stored, but has ${packed.size} bytes for a content of ${size}`);
  if (kind === 'directory' && (size !== 0 || packed.size > emptyPacked || crc32 !== 0)) refuse('it is a folder and has content');
}

/** Seconds since 1970 of a DOS date and time; what is no date is the first one that there is. */
function toSeconds(date: number, time: number): number {
  const [month, day] = [(date >> 5) & 15, date & 31];
  if (month < 1 || month > 12 || day === 0) return Date.UTC(1980, 0, 1) / 1000;
  return Date.UTC(1980 + (date >> 9), month - 1, day, time >> 11, (time >> 5) & 63, (time & 31) * 2) / 1000;
}

function judgeTwins(records: readonly Parsed[], where: string): void {
  const finder = new TwinFinder(false);
  const folders = new Set<string>();
  for (const { entry } of records) {
    const isFolder = entry.kind === 'directory';
    const twin = finder.add(isFolder ? `${entry.path}/` : entry.path);
    const isTwice = twin?.kind === 'duplicate' || (isFolder && folders.has(entry.path));
    if (isTwice) throw refusedZipEntry(where, 'it is there twice', entry.path);
    if (twin !== undefined) throw refusedZipEntry(where, `it is a file and, for "${twin.second}", a folder`, twin.first);
    if (isFolder) folders.add(entry.path);
  }
}

/** In the order of the file, from its first byte on, none reaching into the next as far as the list shows it. */
function withBoundaries(records: readonly Parsed[], directory: number, where: string): ZipRecord[] {
  const sorted = records.toSorted((a, b) => a.entry.headerOffset - b.entry.headerOffset);
  const first = sorted[0]?.entry.headerOffset ?? directory;
  if (first !== 0) throw badZip(where, `${first} other bytes stand before its first entry`);
  return sorted.map((record, index) => {
    const boundary = sorted[index + 1]?.entry.headerOffset ?? directory;
    const { entry, name } = record;
    const end = entry.headerOffset + localHeader.bytes + name.length + entry.packed.size;
    if (end > boundary) throw badZip(where, `it ends at ${end} or later, where something else begins at ${boundary}`, entry.path);
    return { ...record, boundary };
  });
}
