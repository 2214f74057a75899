import type { Limits, PlainTensor } from '../core/index.js';
import { badArray, overLimit, quote } from './bad-array.js';
import { swapBytes } from './byte-order.js';
import { countElements } from './element-count.js';
import { type NpyHeader, npyVersion, parseNpyHeader } from './npy-header.js';
import { maxRank } from './nested-values.js';
import { type NpyType, parseNpyType } from './npy-type.js';
import { decodeText } from './npy-text.js';
import { toRowMajor } from './row-major.js';

type ReadableType = Extract<NpyType, { kind: 'numeric' | 'text' }>;

/**
 * A whole .npy file, versions 1 to 3: numbers, booleans and text in either byte order and either axis order. What needs no change is a view on
 * `bytes`. Throws `tensors/bad-array` (also for pickled objects, which are never loaded) and `bytes/limit`.
 */
export function parseNpy(bytes: Uint8Array, where: string, limits: Limits): PlainTensor {
  const { header, data } = splitFile(bytes, where, limits);
  const { shape } = header;
  const type = readableType(header, where);
  const count = shape.length > maxRank ? undefined : countElements(shape);
  if (count === undefined) throw badArray(where, `the shape (${shape.slice(0, 8).join(', ')}, …) has too many elements or axes`);
  if (count * type.bytes !== data.length)
    throw badArray(where, `the shape (${shape.join(', ')}) needs ${count * type.bytes} bytes of data and ${data.length} follow`);
  const items = header.fortranOrder && shape.length > 1 ? toRowMajor(data, shape, type.bytes) : data;
  if (type.kind === 'numeric') return { kind: 'numeric', dtype: type.dtype, shape, bytes: toLittleEndian(items, type) };
  if (type.bytes === 0 && count > 0) throw badArray(where, `its elements are ${quote(type.descr)}, text of no length`);
  return { kind: 'string', shape, values: decodeText(items, type, (reason) => badArray(where, reason)) };
}

function splitFile(bytes: Uint8Array, where: string, limits: Limits): { header: NpyHeader; data: Uint8Array } {
  const refuse = (reason: string): Error => badArray(where, reason);
  if (bytes.length > limits.tensorBytes + limits.npyHeaderBytes)
    throw overLimit(where, `it is ${bytes.length} bytes long and at most ${limits.tensorBytes} are held in memory`);
  const version = npyVersion(bytes.subarray(0, 8), refuse);
  const start = version === 1 ? 10 : 12;
  if (bytes.length < start) throw refuse('it ends in the header length');
  const view = new DataView(bytes.buffer, bytes.byteOffset, start);
  const length = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > limits.npyHeaderBytes) throw overLimit(where, `its header is ${length} bytes long and at most ${limits.npyHeaderBytes} are read`);
  if (start + length > bytes.length) throw refuse(`its header is ${length} bytes long and ${bytes.length - start} follow`);
  const text = new TextDecoder().decode(bytes.subarray(start, start + length));
  return { header: parseNpyHeader(text, refuse), data: bytes.subarray(start + length) };
}

function readableType({ descr }: NpyHeader, where: string): ReadableType {
  const type = parseNpyType(descr);
  switch (type.kind) {
    case 'numeric':
    case 'text':
      return type;
    case 'object':
      throw badArray(where, 'it holds pickled Python objects, which run code when they are loaded and are never loaded');
    case 'structured':
      throw badArray(where, 'its elements are records, and only numbers, booleans and text are read');
    default:
      throw badArray(where, `its elements are ${quote(type.descr)}, and only numbers, booleans and text are read`);
  }
}

/** A complex number is two numbers. */
function toLittleEndian(bytes: Uint8Array, { dtype, bytes: item, bigEndian }: Extract<NpyType, { kind: 'numeric' }>): Uint8Array {
  return bigEndian ? swapBytes(bytes, dtype.startsWith('complex') ? item / 2 : item) : bytes;
}
