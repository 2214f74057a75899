/**
 * The records of a zip as they lie in the file; all numbers are little-endian. (APPNOTE.TXT 6.3.10, PKWARE, sections 4.3 to 4.5)
 * `bytes` is the fixed part of a record, the other numbers are places of fields in it.
 */
export const localHeader = {
  signature: 0x04034b50,
  bytes: 30,
  version: 4,
  flags: 6,
  method: 8,
  time: 10,
  date: 12,
  crc: 14,
  packed: 18,
  size: 22,
  name: 26,
  extra: 28,
} as const;

export const centralHeader = {
  signature: 0x02014b50,
  bytes: 46,
  madeBy: 4,
  version: 6,
  flags: 8,
  method: 10,
  time: 12,
  date: 14,
  crc: 16,
  packed: 20,
  size: 24,
  name: 28,
  extra: 30,
  comment: 32,
  disk: 34,
  attributes: 38,
  offset: 42,
} as const;

export const endRecord = {
  signature: 0x06054b50,
  bytes: 22,
  disk: 4,
  directoryDisk: 6,
  entriesHere: 8,
  entries: 10,
  directoryBytes: 12,
  directory: 16,
  comment: 20,
} as const;

export const end64Record = {
  signature: 0x06064b50,
  bytes: 56,
  /** Of what follows this field. */
  length: 4,
  madeBy: 12,
  version: 14,
  disk: 16,
  directoryDisk: 20,
  entriesHere: 24,
  entries: 32,
  directoryBytes: 40,
  directory: 48,
} as const;

export const end64Locator = { signature: 0x07064b50, bytes: 20, disk: 4, end64: 8, disks: 16 } as const;

export const descriptorSignature = 0x08074b50;

/** What a field holds whose value stands in the zip64 extra field or record. */
export const sentinel16 = 0xffff;
export const sentinel32 = 0xffffffff;

export const flags = { encrypted: 1, descriptor: 8, utf8: 0x800 } as const;

/** Bits 1 and 2 say how hard a compressor tried. */
export const knownFlags = 6 | flags.descriptor | flags.utf8;

export const extraIds = { zip64: 0x0001, unicodePath: 0x7075 } as const;

/** Systems whose file modes stand in the upper half of the attributes: Unix, and OS X. */
export const unixHosts: readonly number[] = [3, 19];

export const fileTypes = { mask: 0o170000, file: 0o100000, directory: 0o040000, symlink: 0o120000 } as const;
export const setIdBits = 0o6000;

export type ZipMethod = 'none' | 'deflate' | 'zstd';
export const methodNumbers = { none: 0, deflate: 8, zstd: 93 } as const satisfies Record<ZipMethod, number>;
