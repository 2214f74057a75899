import {
  centralHeader as central,
  end64Locator,
  end64Record,
  endRecord,
  extraIds,
  flags,
  localHeader as local,
  sentinel16,
  sentinel32,
} from './zip-format.js';

/** What the headers of a member say. */
export interface MemberFacts {
  readonly name: Buffer;
  readonly method: number;
  /** With the type of the file. */
  readonly mode: number;
  readonly crc32: number;
  readonly size: number;
  readonly packed: number;
  readonly offset: number;
  /** Its local header has room for sizes of 64 bits, which has to be decided before they are known. */
  readonly isLarge: boolean;
}

/** 1980-01-01 00:00, the first that there is: the same input gives the same bytes. */
const date = 0x21;

/** Unix, and the version of the format that has everything that is written. */
const madeBy = (3 << 8) | 63;

function versionOf(method: number, isLarge: boolean): number {
  if (method === 93) return 63;
  return isLarge ? 45 : 20;
}

function flagsOf(name: Buffer): number {
  return name.some((byte) => byte > 0x7f) ? flags.utf8 : 0;
}

export function localHeaderBytes({ name, isLarge }: Pick<MemberFacts, 'name' | 'isLarge'>): number {
  return local.bytes + name.length + (isLarge ? 20 : 0);
}

/** Written to `at`; gives where it ends. */
export function putLocalHeader(target: Buffer, at: number, facts: MemberFacts): number {
  const { name, method, isLarge } = facts;
  const header = target.subarray(at, at + localHeaderBytes(facts)).fill(0);
  header.writeUInt32LE(local.signature, 0);
  header.writeUInt16LE(versionOf(method, isLarge), local.version);
  header.writeUInt16LE(flagsOf(name), local.flags);
  header.writeUInt16LE(method, local.method);
  header.writeUInt16LE(date, local.date);
  header.writeUInt32LE(facts.crc32, local.crc);
  header.writeUInt32LE(isLarge ? sentinel32 : facts.packed, local.packed);
  header.writeUInt32LE(isLarge ? sentinel32 : facts.size, local.size);
  header.writeUInt16LE(name.length, local.name);
  name.copy(header, local.bytes);
  if (isLarge) {
    header.writeUInt16LE(20, local.extra);
    zip64Extra([facts.size, facts.packed]).copy(header, local.bytes + name.length);
  }
  return at + header.length;
}

export function toCentralHeader(facts: MemberFacts): Buffer {
  const { name, method, mode, size, packed, offset } = facts;
  const large = [size, packed, offset].filter((value) => value >= sentinel32);
  const extra = large.length === 0 ? Buffer.alloc(0) : zip64Extra(large);
  const header = Buffer.alloc(central.bytes + name.length + extra.length);
  header.writeUInt32LE(central.signature, 0);
  header.writeUInt16LE(madeBy, central.madeBy);
  header.writeUInt16LE(versionOf(method, facts.isLarge || large.length > 0), central.version);
  header.writeUInt16LE(flagsOf(name), central.flags);
  header.writeUInt16LE(method, central.method);
  header.writeUInt16LE(date, central.date);
  header.writeUInt32LE(facts.crc32, central.crc);
  header.writeUInt32LE(Math.min(packed, sentinel32), central.packed);
  header.writeUInt32LE(Math.min(size, sentinel32), central.size);
  header.writeUInt16LE(name.length, central.name);
  header.writeUInt16LE(extra.length, central.extra);
  header.writeUInt32LE((mode << 16) >>> 0, central.attributes);
  header.writeUInt32LE(Math.min(offset, sentinel32), central.offset);
  name.copy(header, central.bytes);
  extra.copy(header, central.bytes + name.length);
  return header;
}

function zip64Extra(values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + 8 * values.length);
  extra.writeUInt16LE(extraIds.zip64, 0);
  extra.writeUInt16LE(8 * values.length, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  return extra;
}

/** What ends an archive whose list of so many entries and bytes begins at `offset`; the large records only where the small one has no room. */
export function toEndRecords(entries: number, directoryBytes: number, offset: number): Buffer {
  const end = Buffer.alloc(endRecord.bytes);
  end.writeUInt32LE(endRecord.signature, 0);
  end.writeUInt16LE(Math.min(entries, sentinel16), endRecord.entriesHere);
  end.writeUInt16LE(Math.min(entries, sentinel16), endRecord.entries);
  end.writeUInt32LE(Math.min(directoryBytes, sentinel32), endRecord.directoryBytes);
  end.writeUInt32LE(Math.min(offset, sentinel32), endRecord.directory);
  const isLarge = entries >= sentinel16 || directoryBytes >= sentinel32 || offset >= sentinel32;
  return isLarge ? Buffer.concat([toEnd64Records(entries, directoryBytes, offset), end]) : end;
}

function toEnd64Records(entries: number, directoryBytes: number, offset: number): Buffer {
  const record = Buffer.alloc(end64Record.bytes);
  record.writeUInt32LE(end64Record.signature, 0);
  record.writeUInt32LE(end64Record.bytes - 12, end64Record.length);
  record.writeUInt16LE(madeBy, end64Record.madeBy);
  record.writeUInt16LE(45, end64Record.version);
  record.writeBigUInt64LE(BigInt(entries), end64Record.entriesHere);
  record.writeBigUInt64LE(BigInt(entries), end64Record.entries);
  record.writeBigUInt64LE(BigInt(directoryBytes), end64Record.directoryBytes);
  record.writeBigUInt64LE(BigInt(offset), end64Record.directory);
  const locator = Buffer.alloc(end64Locator.bytes);
  locator.writeUInt32LE(end64Locator.signature, 0);
  locator.writeBigUInt64LE(BigInt(offset + directoryBytes), end64Locator.end64);
  locator.writeUInt32LE(1, end64Locator.disks);
  return Buffer.concat([record, locator]);
}
