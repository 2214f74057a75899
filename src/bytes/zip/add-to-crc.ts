import { crc32 } from 'node:zlib';

/** The CRC-32 of what gave `crc` and this. Node takes no bytes without an address for the beginning of another sum, and gives 0. */
export function addToCrc(crc: number, bytes: Uint8Array): number {
  return bytes.byteLength === 0 ? crc : crc32(bytes, crc);
}
