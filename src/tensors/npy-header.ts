import { isDictionary, parsePythonLiteral, type PythonValue } from './python-literal.js';

export const npyMagic = '\x93NUMPY';

export interface NpyHeader {
  /** As it stands there; a list for a structured array. */
  readonly descr: PythonValue;
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
}

/** From the first 8 bytes: the version, which says how wide the header length after them is: 2 bytes in version 1, 4 in 2 and 3. */
export function npyVersion(head: Uint8Array, refuse: (reason: string) => Error): 1 | 2 | 3 {
  if (String.fromCharCode(...head.subarray(0, npyMagic.length)) !== npyMagic) throw refuse('it does not begin with \\x93NUMPY');
  const version = head[npyMagic.length];
  if (version !== 1 && version !== 2 && version !== 3) throw refuse(`its version is ${version} and only 1, 2 and 3 are read`);
  return version;
}

/** The dictionary at the head of a .npy file (numpy.lib.format). The literal is parsed, never evaluated. `refuse` makes the error. */
export function parseNpyHeader(text: string, refuse: (reason: string) => Error): NpyHeader {
  const value = parsePythonLiteral(text, refuse);
  if (!isDictionary(value) || value.size !== 3) throw refuse('the header is not a dictionary of descr, fortran_order and shape');
  const descr = value.get('descr');
  const fortranOrder = value.get('fortran_order');
  const shape = value.get('shape');
  const isDescr = typeof descr === 'string' || Array.isArray(descr);
  if (!isDescr || typeof fortranOrder !== 'boolean' || !isShape(shape))
    throw refuse('the header lacks descr, fortran_order or shape, or one of them is of another kind');
  return { descr, fortranOrder, shape };
}

function isShape(value: PythonValue | undefined): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number' && item >= 0);
}
