import type { NumericTensor } from '../core/index.js';
import { isLittleEndianHost, swapBytes } from './byte-order.js';
import { isSmallFloat, smallFloatTable } from './small-floats.js';

const arrays = {
  float64: Float64Array,
  float32: Float32Array,
  int64: BigInt64Array,
  int32: Int32Array,
  int16: Int16Array,
  int8: Int8Array,
  uint64: BigUint64Array,
  uint32: Uint32Array,
  uint16: Uint16Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  complex64: Float32Array,
  complex128: Float64Array,
} as const;

export type NumberArray = Float64Array | Float32Array | Int32Array | Int16Array | Int8Array | Uint32Array | Uint16Array | Uint8Array;
export type IntegerArray64 = BigInt64Array | BigUint64Array;

export function isArray64(array: NumberArray | IntegerArray64): array is IntegerArray64 {
  return array instanceof BigInt64Array || array instanceof BigUint64Array;
}

/** The bytes in the units that they are stored in, bits of small floats as they are: a view where alignment and byte order allow it, else a copy. */
export function toStoredArray({ dtype, bytes }: NumericTensor): NumberArray | IntegerArray64 | undefined {
  const Kind = dtype in arrays ? arrays[dtype as keyof typeof arrays] : undefined;
  if (Kind === undefined) return undefined;
  const unit = Kind.BYTES_PER_ELEMENT;
  const native = isLittleEndianHost ? bytes : swapBytes(bytes, unit);
  const aligned = native.byteOffset % unit === 0 ? native : Uint8Array.from(native);
  return new Kind(aligned.buffer as ArrayBuffer, aligned.byteOffset, Math.floor(aligned.length / unit));
}

/**
 * The elements as a typed array: a view where alignment and byte order allow it, else a copy. float16 and bfloat16 become float32, booleans 0 and
 * 1, a complex number two elements. Undefined for types of fewer than 16 bits that JavaScript has no array for (float8, int4, …).
 */
export function toTypedArray(tensor: NumericTensor): NumberArray | IntegerArray64 | undefined {
  const array = toStoredArray(tensor);
  if (array !== undefined && tensor.dtype === 'bool') return toBits(array as Uint8Array);
  return array !== undefined && isSmallFloat(tensor.dtype) ? widen(array as Uint16Array, smallFloatTable(tensor.dtype)) : array;
}

function toBits(bytes: Uint8Array): Uint8Array {
  const bits = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at++) bits[at] = bytes[at] === 0 ? 0 : 1;
  return bits;
}

function widen(bits: Uint16Array, table: Float32Array): Float32Array {
  const wide = new Float32Array(bits.length);
  for (let at = 0; at < bits.length; at++) wide[at] = table[bits[at] ?? 0] ?? 0;
  return wide;
}
