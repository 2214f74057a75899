import type { RandomAccess } from '../core/index.js';

export interface HeadAccess extends RandomAccess {
  /** The first bytes: as many as were asked for, or the whole file. */
  readonly first: Uint8Array;
}

/**
 * Reads the first `length` bytes once and answers later reads there from memory, so that a file is identified and then parsed with one
 * request for its start, and the offsets asked of `access` never go back.
 */
export async function readHead(access: RandomAccess, length: number): Promise<HeadAccess> {
  const first = Uint8Array.from(await access.read(0, Math.min(length, access.size)));
  return { first, size: access.size, read: (offset, count) => readBehind(first, access, offset, count) };
}

async function readBehind(first: Uint8Array, access: RandomAccess, offset: number, length: number): Promise<Uint8Array> {
  if (offset >= first.length) return access.read(offset, length);
  if (offset + length <= first.length) return first.subarray(offset, offset + length);
  const bytes = new Uint8Array(length);
  bytes.set(first.subarray(offset));
  bytes.set(await access.read(first.length, offset + length - first.length), first.length - offset);
  return bytes;
}
