import { createError, findDtype, type NumericTensor, type PlainTensor, type Tensor } from '../core/index.js';
import { npyMagic } from './npy-header.js';

const preambleBytes = npyMagic.length + 4;
const alignment = 64;
/** NumPy leaves room for the first extent to grow to a number of 21 digits in place; so do we, for the same bytes. */
const growthDigits = 21;

/** Numbers and booleans that NumPy has; texts and ragged tensors are written as JSON. */
export function isNpyWritable(tensor: Tensor): tensor is NumericTensor {
  return tensor.kind === 'numeric' && findDtype('name', tensor.dtype)?.npy !== undefined;
}

/** The bytes that numpy.save writes: version 1.0, little-endian, C order. Throws `tensors/bad-array` for what `isNpyWritable` denies. */
export function writeNpy(tensor: PlainTensor): Uint8Array {
  const npy = tensor.kind === 'numeric' ? findDtype('name', tensor.dtype)?.npy : undefined;
  if (npy === undefined || tensor.kind !== 'numeric') {
    const dtype = tensor.kind === 'numeric' ? tensor.dtype : 'string';
    throw createError('tensors/bad-array', { message: `Cannot write a tensor as .npy: NumPy files have no ${dtype}`, hint: 'Write it as JSON' });
  }
  const header = new TextEncoder().encode(writeHeader(npy, tensor.shape));
  const file = new Uint8Array(preambleBytes + header.length + tensor.bytes.length);
  file.set(Array.from(npyMagic, (character) => character.charCodeAt(0)));
  file.set([1, 0, header.length & 0xff, header.length >> 8], npyMagic.length);
  file.set(header, preambleBytes);
  file.set(tensor.bytes, preambleBytes + header.length);
  return file;
}

function writeHeader(npy: string, shape: readonly number[]): string {
  const order = /^[a-z]1$/.test(npy) ? '|' : '<';
  const tuple = shape.length === 1 ? `(${shape[0]},)` : `(${shape.join(', ')})`;
  const growth = shape[0] === undefined ? '' : ' '.repeat(growthDigits - String(shape[0]).length);
  const literal = `{'descr': '${order}${npy}', 'fortran_order': False, 'shape': ${tuple}, }${growth}`;
  const rest = (preambleBytes + literal.length + 1) % alignment;
  return `${literal}${' '.repeat(rest === 0 ? 0 : alignment - rest)}\n`;
}
