import { tarHeader } from '../bytes/index.js';

export const blockBytes = 512;

/** Two zero blocks close a tar. */
export const endBytes = 2 * blockBytes;

/** The first size that does not fit the 11 octal digits of ustar. */
const octalLimit = 8 ** 11;

const sizeField = { start: 124, length: 12 };
const checksumField = { start: 148, length: 8 };

export function toPaddedSize(size: number): number {
  return Math.ceil(size / blockBytes) * blockBytes;
}

/**
 * The header of a plain file whose length depends on the name alone, as room for it is kept before the size is known: a large size takes
 * GNU's base-256 form instead of a pax record. GNU tar, Go, Python and libarchive read it.
 */
export function toFileHeader(name: string, size: number): Uint8Array {
  const isLarge = size >= octalLimit;
  const header = tarHeader({ name, mode: 0o644, mtime: 0, content: { kind: 'file', path: '', size: isLarge ? 0 : size } });
  if (isLarge) writeLargeSize(header.subarray(-blockBytes), size);
  return header;
}

function writeLargeSize(block: Buffer, size: number): void {
  block.fill(0, sizeField.start, sizeField.start + sizeField.length);
  block[sizeField.start] = 0x80;
  block.writeBigUInt64BE(BigInt(size), sizeField.start + sizeField.length - 8);
  block.fill(0x20, checksumField.start, checksumField.start + checksumField.length);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, checksumField.start, 'latin1');
}
