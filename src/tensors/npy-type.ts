import { findDtype, type NumericTensor } from '../core/index.js';
import type { PythonValue } from './python-literal.js';

/** What the elements of a .npy array are. `bytes` of one; absent where it cannot be known. */
export type NpyType =
  | { readonly kind: 'numeric'; readonly dtype: NumericTensor['dtype']; readonly bytes: number; readonly bigEndian: boolean }
  /** `U`: UTF-32; `S`: bytes. Both filled up with NUL. */
  | { readonly kind: 'text'; readonly code: 'U' | 'S'; readonly descr: string; readonly bytes: number; readonly bigEndian: boolean }
  /** Pickled Python objects. */
  | { readonly kind: 'object' }
  | { readonly kind: 'structured' }
  /** Dates, raw bytes, long doubles and what else NumPy has. */
  | { readonly kind: 'other'; readonly descr: string; readonly bytes?: number };

/** `<f4`, `|b1`, `>U12`. An order of `=` or none is that of the machine that wrote it, taken for little-endian: NumPy itself always says it. */
export function parseNpyType(descr: PythonValue): NpyType {
  if (typeof descr !== 'string') return { kind: 'structured' };
  const match = /^([<>|=]?)([a-zA-Z])(\d{0,9})(\[.*\])?$/.exec(descr);
  const [, order, letter = '', digits, unit] = match ?? [];
  if (letter === 'O') return { kind: 'object' };
  if (!digits) return { kind: 'other', descr };
  const count = Number(digits);
  const bigEndian = order === '>';
  const dtype = unit === undefined ? findDtype('npy', `${letter}${count}`) : undefined;
  if (dtype !== undefined && dtype.name !== 'string') return { kind: 'numeric', dtype: dtype.name, bytes: dtype.bits / 8, bigEndian };
  if (letter === 'U' || letter === 'S') return { kind: 'text', code: letter, descr, bytes: letter === 'U' ? count * 4 : count, bigEndian };
  return { kind: 'other', descr, bytes: count };
}
