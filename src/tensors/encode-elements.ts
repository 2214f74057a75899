import { findDtype, type NumericTensor } from '../core/index.js';
import { quote } from './bad-array.js';
import { parseFloatWord } from './float-words.js';
import { encodeSmallFloat, isSmallFloat, smallFloatTable } from './small-floats.js';

type Dtype = NumericTensor['dtype'];

/** Writes one value at a byte offset, or says why the value is none of this dtype. */
type Put = (view: DataView, offset: number, value: unknown) => string | undefined;

/** Values from outside → little-endian bytes. `refuse` makes the error from the position of the value and the reason. */
export function encodeElements(values: readonly unknown[], dtype: Dtype, refuse: (reason: string, position?: number) => Error): Uint8Array {
  const put = findPut(dtype);
  const size = (findDtype('name', dtype)?.bits ?? 0) / 8;
  if (put === undefined) throw refuse(`${dtype} has no form in JSON`);
  const bytes = new Uint8Array(values.length * size);
  const view = new DataView(bytes.buffer);
  for (const [position, value] of values.entries()) {
    const reason = put(view, position * size, value);
    if (reason !== undefined) throw refuse(`${show(value)} ${reason}`, position);
  }
  return bytes;
}

function findPut(dtype: Dtype): Put | undefined {
  if (dtype === 'bool') return putBool;
  if (dtype === 'float64' || dtype === 'float32' || isSmallFloat(dtype)) return putFloat(dtype);
  return /^u?int(8|16|32|64)$/.test(dtype) ? putInteger(dtype) : undefined;
}

function putBool(view: DataView, offset: number, value: unknown): string | undefined {
  if (value !== true && value !== false && value !== 0 && value !== 1) return 'is no bool';
  view.setUint8(offset, Number(value));
}

function putFloat(dtype: 'float64' | 'float32' | 'float16' | 'bfloat16'): Put {
  const set = floatSetter(dtype);
  return (view, offset, value) => {
    const number = typeof value === 'string' ? parseFloatWord(value) : typeof value === 'bigint' ? Number(value) : value;
    if (typeof number !== 'number') return `is no ${dtype}`;
    const stored = set(view, offset, number);
    return Number.isFinite(number) && !Number.isFinite(stored) ? `does not fit ${dtype}` : undefined;
  };
}

/** Returns what the stored bits mean. */
function floatSetter(dtype: 'float64' | 'float32' | 'float16' | 'bfloat16'): (view: DataView, offset: number, value: number) => number {
  if (dtype === 'float64') {
    return (view, offset, value) => {
      view.setFloat64(offset, value, true);
      return value;
    };
  }
  if (dtype === 'float32') {
    return (view, offset, value) => {
      view.setFloat32(offset, value, true);
      return Math.fround(value);
    };
  }
  const table = smallFloatTable(dtype);
  return (view, offset, value) => {
    const bits = encodeSmallFloat(value, dtype);
    view.setUint16(offset, bits, true);
    return table[bits] ?? Number.NaN;
  };
}

function putInteger(dtype: Dtype): Put {
  const bits = findDtype('name', dtype)?.bits ?? 0;
  const isSigned = dtype.startsWith('int');
  const min = isSigned ? -(2n ** BigInt(bits - 1)) : 0n;
  const max = 2n ** BigInt(isSigned ? bits - 1 : bits) - 1n;
  const [low, high] = [Number(min), Number(max)];
  const outside = `does not fit ${dtype} (${min} to ${max})`;
  return (view, offset, value) => {
    if (typeof value === 'number') {
      if (!Number.isInteger(value)) return `is no ${dtype}`;
      if (value < low || value > high) return outside;
      if (!Number.isSafeInteger(value)) return `is beyond 2^53 and may have been rounded: ${dtype} needs it as a whole number, digit by digit`;
    } else if (typeof value !== 'bigint') return `is no ${dtype}`;
    else if (value < min || value > max) return outside;
    if (bits === 64) view.setBigInt64(offset, BigInt.asIntN(64, BigInt(value)), true);
    else if (bits === 32) view.setInt32(offset, Number(value), true);
    else if (bits === 16) view.setInt16(offset, Number(value), true);
    else view.setInt8(offset, Number(value));
  };
}

function show(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean' ? String(value) : 'what is no plain value';
}
