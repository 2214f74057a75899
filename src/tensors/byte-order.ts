/** Whether typed arrays of this machine are little-endian, as the bytes of tensors are. */
export const isLittleEndianHost = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** A copy in which each run of `unit` bytes (1, 2, 4 or 8) is turned round. The length is a multiple of `unit`. */
export function swapBytes(bytes: Uint8Array, unit: number): Uint8Array<ArrayBuffer> {
  const copy = Uint8Array.from(bytes);
  const view = Buffer.from(copy.buffer);
  if (unit === 2) view.swap16();
  if (unit === 4) view.swap32();
  if (unit === 8) view.swap64();
  return copy;
}
