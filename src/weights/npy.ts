import type { Finding, Limits, RandomAccess } from '../core/index.js';
import { countElements, type NpyHeader, type NpyType, npyVersion, parseNpyHeader, parseNpyType } from '../tensors/index.js';
import { badHeader, overLimit, quote } from './bad-header.js';
import { ForwardReader } from './forward-reader.js';
import type { WeightFile } from './weight-file.js';

/** Magic and version. */
const preambleBytes = 8;

/** Header of a NumPy array file, version 1 to 3 (numpy.lib.format). The literal in it is parsed, never evaluated. */
export async function readNpy(file: string, access: RandomAccess, limits: Limits): Promise<WeightFile> {
  const reader = new ForwardReader(access, file, limits.npyHeaderBytes + 16);
  const { descr, fortranOrder, shape } = await readHeader(reader, limits);
  const type = nameType(parseNpyType(descr));
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

async function readHeader(reader: ForwardReader, limits: Limits): Promise<NpyHeader> {
  await reader.fill(preambleBytes + 2, 'the NumPy preamble');
  const head = Uint8Array.from({ length: preambleBytes }, () => reader.u8());
  const version = npyVersion(head, (reason) => badHeader(reader.file, 0, reason));
  if (version > 1) await reader.fill(4, 'the header length');
  const length = version === 1 ? reader.u16() : reader.u32();
  if (length > limits.npyHeaderBytes)
    throw overLimit(reader.file, reader.position, `the header length is ${length} and at most ${limits.npyHeaderBytes} bytes are read`);
  await reader.fill(length, 'the header');
  return parseNpyHeader(reader.text(length, false), (reason) => reader.bad(reason));
}

/** A neutral dtype and the size of one; a type without one keeps NumPy's spelling. Without a size nothing can be compared. */
function nameType(type: NpyType): { name: string; bytes?: number } {
  switch (type.kind) {
    case 'numeric':
      return { name: type.dtype, bytes: type.bytes };
    case 'text':
      return { name: type.descr, bytes: type.bytes };
    case 'other':
      return type.bytes === undefined ? { name: quote(type.descr) } : { name: type.descr, bytes: type.bytes };
    default:
      return { name: type.kind };
  }
}
