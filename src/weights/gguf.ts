import type { Limits, RandomAccess, TensorInfo } from '../core/index.js';
import { overLimit, quote } from './bad-header.js';
import { countElements } from '../tensors/index.js';
import { ForwardReader } from './forward-reader.js';
import { findGgufTensorType } from './gguf-types.js';
import { readGgufString, readGgufValue } from './gguf-values.js';
import type { WeightFile } from './weight-file.js';

const magic = 0x46554747;
/** ggml keeps names in 64 bytes; longer ones are read so that they can be shown. */
const maxNameBytes = 1024;
const maxKeyBytes = 65_535;
const maxDimensions = 4;
const maxExtent = 2 ** 32;
const maxAlignment = 1024 * 1024;
const defaultAlignment = 32;
/** A key of one letter with a u8, and a scalar tensor without a name: the least that a count can stand for. */
const shortestKey = 8 + 1 + 4 + 1;
const shortestTensor = 8 + 4 + 4 + 8;

/** Header of a GGUF file, version 2 or 3, of either byte order. A part of a split file is read like a whole one. */
export async function readGguf(file: string, access: RandomAccess, limits: Limits): Promise<WeightFile> {
  const reader = new ForwardReader(access, file, limits.ggufHeaderBytes);
  const counts = await readPreamble(reader, limits);
  const metadata = await readKeys(reader, counts.keys, limits);
  const infos = await readTensorInfos(reader, counts.tensors);
  const alignment = judgeAlignment(reader, metadata.get('general.alignment'));
  const tensors = placeTensors(reader, infos, alignment);
  const parameters = infos.reduce((sum, tensor) => sum + tensor.elements, 0);
  return { format: 'gguf', file, tensors, parameters, metadata: Object.fromEntries(metadata), findings: [] };
}

async function readPreamble(reader: ForwardReader, limits: Limits): Promise<{ tensors: number; keys: number }> {
  await reader.fill(24, 'the GGUF preamble');
  if (reader.u32() !== magic) throw reader.bad('it does not begin with GGUF');
  const version = readVersion(reader);
  if (version !== 2 && version !== 3) throw reader.bad(`its version is ${version} and only 2 and 3 are read`);
  const tensors = reader.count('the number of tensors');
  const keys = reader.count('the number of keys');
  if (tensors * shortestTensor + keys * shortestKey > reader.remaining)
    throw reader.bad(`${tensors} tensors and ${keys} keys do not fit into the ${reader.remaining} bytes left`);
  if (tensors > limits.tensors) throw overLimit(reader.file, 8, `it names ${tensors} tensors and at most ${limits.tensors} are read`);
  if (keys > limits.ggufKeys) throw overLimit(reader.file, 16, `it holds ${keys} keys and at most ${limits.ggufKeys} are read`);
  return { tensors, keys };
}

/** The version is also the mark of the byte order: its low half is zero when it was written the other way round. */
function readVersion(reader: ForwardReader): number {
  const version = reader.u32();
  if (version === 0 || (version & 0xffff) !== 0) return version;
  reader.littleEndian = false;
  return version >>> 24;
}

async function readKeys(reader: ForwardReader, count: number, limits: Limits): Promise<Map<string, unknown>> {
  const metadata = new Map<string, unknown>();
  for (let index = 0; index < count; index++) {
    const key = await readGgufString(reader, maxKeyBytes, true);
    if (key === '') throw reader.bad('a key is empty');
    if (metadata.has(key)) throw reader.bad(`the key ${quote(key)} stands twice`);
    await reader.fill(4, 'a value type');
    metadata.set(key, await readGgufValue(reader, reader.u32(), limits.ggufStringBytes));
  }
  return metadata;
}

function judgeAlignment(reader: ForwardReader, value: unknown): number {
  if (value === undefined) return defaultAlignment;
  const isPower = typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= maxAlignment && (value & (value - 1)) === 0;
  if (!isPower)
    throw reader.bad(`general.alignment is ${typeof value === 'number' ? value : typeof value} and must be a power of two up to ${maxAlignment}`);
  return value;
}

interface GgufTensorInfo {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly elements: number;
  readonly bytes: number;
  /** From the start of the data. */
  readonly offset: number;
}

async function readTensorInfos(reader: ForwardReader, count: number): Promise<readonly GgufTensorInfo[]> {
  const names = new Set<string>();
  const infos: GgufTensorInfo[] = [];
  for (let index = 0; index < count; index++) {
    const info = await readTensorInfo(reader);
    if (names.has(info.name)) throw reader.bad(`the tensor ${quote(info.name)} stands twice`);
    names.add(info.name);
    infos.push(info);
  }
  return infos;
}

async function readTensorInfo(reader: ForwardReader): Promise<GgufTensorInfo> {
  const name = await readGgufString(reader, maxNameBytes, true);
  await reader.fill(4, 'a number of dimensions');
  const rank = reader.u32();
  if (rank > maxDimensions) throw reader.bad(`tensor ${quote(name)} has ${rank} dimensions and at most ${maxDimensions} are allowed`);
  await reader.fill(rank * 8 + 12, 'a tensor description');
  const extents = Array.from({ length: rank }, () => reader.count('an extent'));
  const code = reader.u32();
  const offset = reader.count('a tensor offset');
  return { name, offset, ...measure(reader, name, extents, code) };
}

/** ggml writes the fastest extent first; shapes here are row-major, slowest first. */
function measure(
  reader: ForwardReader,
  name: string,
  extents: readonly number[],
  code: number,
): Pick<GgufTensorInfo, 'dtype' | 'shape' | 'elements' | 'bytes'> {
  const type = findGgufTensorType(code);
  if (type === undefined) throw reader.bad(`tensor ${quote(name)} has the type ${code}, which is unknown or was removed from ggml`);
  const elements = countElements(extents);
  if (elements === undefined || extents.some((extent) => extent > maxExtent))
    throw reader.bad(`tensor ${quote(name)} of [${extents.join(', ')}] is too large`);
  const fastest = extents[0] ?? 1;
  if (fastest % type.elements !== 0)
    throw reader.bad(`tensor ${quote(name)} has rows of ${fastest} and ${type.name} comes in blocks of ${type.elements}`);
  return { dtype: type.name, shape: extents.toReversed(), elements, bytes: (elements / type.elements) * type.bytes };
}

/** ggml takes tensors only one right behind the other, each padded to the alignment. */
function placeTensors(reader: ForwardReader, infos: readonly GgufTensorInfo[], alignment: number): readonly TensorInfo[] {
  const dataStart = pad(reader.position, alignment);
  let expected = 0;
  return infos.map(({ name, dtype, shape, bytes, offset }) => {
    if (offset !== expected) throw reader.bad(`tensor ${quote(name)} begins at ${offset} of the data and ${expected} was expected`);
    expected = pad(offset + bytes, alignment);
    const end = dataStart + offset + bytes;
    if (end > reader.access.size) throw reader.bad(`tensor ${quote(name)} ends at byte ${end} and the file has ${reader.access.size} bytes`);
    return { name, dtype, shape, bytes, offset: dataStart + offset, file: reader.file };
  });
}

function pad(offset: number, alignment: number): number {
  return Math.ceil(offset / alignment) * alignment;
}
