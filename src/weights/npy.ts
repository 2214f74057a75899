import { findDtype, type Finding, type Limits, type RandomAccess } from '../core/index.js';
import { badHeader, overLimit, quote } from './bad-header.js';
import { countElements } from './element-count.js';
import { ForwardReader } from './forward-reader.js';
import { isDictionary, parsePythonLiteral, type PythonValue } from './python-literal.js';
import type { WeightFile } from './weight-file.js';

const magicBytes = 6;
const magic = '\x93NUMPY';

/** Header of a NumPy array file, version 1 to 3 (numpy.lib.format). The literal in it is parsed, never evaluated. */
export async function readNpy(file: string, access: RandomAccess, limits: Limits): Promise<WeightFile> {
  const reader = new ForwardReader(access, file, limits.npyHeaderBytes + 16);
  const { descr, fortranOrder, shape } = await readHeader(reader, limits);
  const type = parseDescr(descr);
  const elements = countElements(shape);
  if (elements === undefined) throw reader.bad(`the shape (${shape.slice(0, 8).join(', ')}) is too large`);
  const bytes = access.size - reader.position;
  if (type.bytes !== undefined && elements * type.bytes !== bytes) {
    throw reader.bad(`the shape (${shape.join(', ')}) of ${type.name} needs ${elements * type.bytes} bytes and ${bytes} follow`);
  }
  const tensor = { name: '', dtype: type.name, shape, bytes, offset: reader.position, file };
  return {
    format: 'npy',
    file,
    tensors: [tensor],
    parameters: elements,
    metadata: { descr, fortranOrder },
    findings: type.name === 'object' ? [pickled(file)] : [],
  };
}

function pickled(file: string): Finding {
  return {
    level: 'warning',
    code: 'weights/pickle',
    message: 'The array holds pickled Python objects, which run code when they are loaded',
    where: file,
  };
}

interface NpyHeader {
  readonly descr: PythonValue;
  readonly fortranOrder: boolean;
  readonly shape: readonly number[];
}

async function readHeader(reader: ForwardReader, limits: Limits): Promise<NpyHeader> {
  await reader.fill(magicBytes + 4, 'the NumPy preamble');
  const found = Array.from({ length: magicBytes }, () => String.fromCharCode(reader.u8())).join('');
  if (found !== magic) throw badHeader(reader.file, 0, 'it does not begin with \\x93NUMPY');
  const version = reader.u8();
  reader.u8();
  if (version < 1 || version > 3) throw reader.bad(`its version is ${version} and only 1, 2 and 3 are read`);
  if (version > 1) await reader.fill(4, 'the header length');
  const length = version === 1 ? reader.u16() : reader.u32();
  if (length > limits.npyHeaderBytes)
    throw overLimit(reader.file, reader.position, `the header length is ${length} and at most ${limits.npyHeaderBytes} bytes are read`);
  await reader.fill(length, 'the header');
  return parseHeader(reader, reader.text(length, false));
}

function parseHeader(reader: ForwardReader, text: string): NpyHeader {
  const value = parsePythonLiteral(text, (reason) => reader.bad(reason));
  if (!isDictionary(value) || value.size !== 3) throw reader.bad('the header is not a dictionary of descr, fortran_order and shape');
  const descr = value.get('descr');
  const fortranOrder = value.get('fortran_order');
  const shape = value.get('shape');
  const isDescr = typeof descr === 'string' || Array.isArray(descr);
  if (!isDescr || typeof fortranOrder !== 'boolean' || !isShape(shape))
    throw reader.bad('the header lacks descr, fortran_order or shape, or one of them is of another kind');
  return { descr, fortranOrder, shape };
}

function isShape(value: PythonValue | undefined): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'number' && item >= 0);
}

/** `<f4` → a neutral dtype and its size; a type without one keeps NumPy's spelling. Without a size nothing can be compared. */
function parseDescr(descr: PythonValue): { name: string; bytes?: number } {
  if (typeof descr !== 'string') return { name: 'structured' };
  const match = /^[<>|=]?([a-zA-Z])(\d{0,9})(?:\[.*\])?$/.exec(descr);
  const letter = match?.[1] ?? '';
  if (letter === 'O') return { name: 'object' };
  const count = Number(match?.[2] || Number.NaN);
  const dtype = findDtype('npy', `${letter}${count}`);
  if (dtype !== undefined) return { name: dtype.name, bytes: dtype.bits / 8 };
  if (Number.isNaN(count)) return { name: quote(descr) };
  return { name: descr, bytes: letter === 'U' ? count * 4 : count };
}
