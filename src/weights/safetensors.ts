import {
  findDtype,
  isJsonObject,
  isToolkitError,
  type JsonObject,
  type Limits,
  parseJson,
  type RandomAccess,
  type TensorInfo,
} from '../core/index.js';
import { badHeader, overLimit, quote } from './bad-header.js';
import { countElements } from '../tensors/index.js';
import type { WeightFile } from './weight-file.js';

const lengthBytes = 8;
/** Holds the whole header of nearly every file, so that a remote one costs one request, and 50 of them 5 MB. */
const firstRead = 80 * 1024;
const openBrace = 0x7b;

/** Header of a safetensors file, judged as strictly as the reference parser does: no hole, no overlap, no byte left over. */
export async function readSafetensors(file: string, access: RandomAccess, limits: Limits): Promise<WeightFile> {
  const header = await readHeader(file, access, limits);
  const { __metadata__: metadata, ...entries } = parseHeader(file, header, limits);
  const names = Object.keys(entries);
  if (names.length > limits.tensors) throw overLimit(file, lengthBytes, `it names ${names.length} tensors and at most ${limits.tensors} are read`);
  const dataStart = lengthBytes + header.length;
  const tensors = names.map((name) => parseEntry(file, name, entries[name], dataStart));
  assertContiguous(file, tensors, dataStart, access.size);
  const parameters = tensors.reduce((sum, tensor) => sum + (countElements(tensor.shape) ?? 0), 0);
  return { format: 'safetensors', file, tensors, parameters, metadata: parseMetadata(file, metadata), findings: [] };
}

async function readHeader(file: string, access: RandomAccess, limits: Limits): Promise<Uint8Array> {
  if (access.size < lengthBytes)
    throw badHeader(file, 0, `it has ${access.size} bytes and a safetensors file begins with ${lengthBytes} bytes of header length`);
  const head = await access.read(0, Math.min(access.size, firstRead));
  const promised = new DataView(head.buffer, head.byteOffset).getBigUint64(0, true);
  const available = access.size - lengthBytes;
  if (promised > BigInt(available)) throw badHeader(file, 0, `the header length is ${promised} and only ${available} bytes follow`);
  const length = Number(promised);
  if (length > limits.safetensorsHeaderBytes)
    throw overLimit(file, 0, `the header length is ${length} and at most ${limits.safetensorsHeaderBytes} bytes are read`);
  if (head[lengthBytes] !== openBrace || length === 0) throw badHeader(file, lengthBytes, 'the header does not begin with {');
  const end = lengthBytes + length;
  if (end <= head.length) return head.subarray(lengthBytes, end);
  const header = new Uint8Array(length);
  header.set(head.subarray(lengthBytes));
  header.set(await access.read(head.length, end - head.length), head.length - lengthBytes);
  return header;
}

function parseHeader(file: string, bytes: Uint8Array, limits: Limits): JsonObject {
  try {
    const value = parseJson(bytes, file, { bytes: limits.safetensorsHeaderBytes, depth: limits.jsonDepth });
    if (isJsonObject(value)) return value;
  } catch (cause) {
    if (!isToolkitError(cause)) throw cause;
    throw badHeader(file, lengthBytes, cause.message.replace(/^Cannot read ".*?" as JSON: /s, ''), cause);
  }
  throw badHeader(file, lengthBytes, 'the header is not a JSON object');
}

function parseMetadata(file: string, metadata: unknown): Record<string, string> {
  if (metadata === undefined) return {};
  if (!isJsonObject(metadata)) throw badHeader(file, lengthBytes, '__metadata__ is not an object');
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string') throw badHeader(file, lengthBytes, `__metadata__ ${quote(key)} is ${typeof value} and must be text`);
  }
  return metadata as Record<string, string>;
}

function parseEntry(file: string, name: string, entry: unknown, dataStart: number): TensorInfo {
  const refuse = (reason: string) => badHeader(file, lengthBytes, `tensor ${quote(name)}: ${reason}`);
  if (!isJsonObject(entry)) throw refuse('its entry is not an object');
  const { dtype: word, shape, data_offsets: offsets, ...rest } = entry;
  const [unknownKey] = Object.keys(rest);
  if (unknownKey !== undefined) throw refuse(`its entry holds the unknown key ${quote(unknownKey)}`);
  const dtype = typeof word === 'string' ? findDtype('safetensors', word) : undefined;
  if (dtype === undefined) throw refuse(`its dtype ${quote(String(word))} is unknown`);
  if (!isNumbers(shape)) throw refuse('its shape is not a list of whole numbers');
  if (!isNumbers(offsets) || offsets.length !== 2) throw refuse('its data_offsets are not two whole numbers');
  const [begin = 0, end = 0] = offsets;
  const elements = countElements(shape);
  const bits = elements === undefined ? undefined : elements * dtype.bits;
  if (bits === undefined || !Number.isSafeInteger(bits)) throw refuse(`its shape [${shape.slice(0, 8).join(', ')}] is too large`);
  if (bits % 8 !== 0) throw refuse(`its shape [${shape.join(', ')}] of ${dtype.name} does not fill whole bytes`);
  if (begin > end) throw refuse(`its data_offsets [${begin}, ${end}] run backwards`);
  if (bits / 8 !== end - begin)
    throw refuse(`its shape [${shape.join(', ')}] of ${dtype.name} needs ${bits / 8} bytes and its data_offsets give ${end - begin}`);
  return { name, dtype: dtype.name, shape, bytes: end - begin, offset: dataStart + begin, file };
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}

/** In the order of their data, tensors must fill the rest of the file exactly. */
function assertContiguous(file: string, tensors: readonly TensorInfo[], dataStart: number, fileSize: number): void {
  const byOffset = tensors.toSorted((a, b) => (a.offset ?? 0) - (b.offset ?? 0) || a.bytes - b.bytes);
  let expected = dataStart;
  for (const { name, offset = 0, bytes } of byOffset) {
    if (offset !== expected) throw badHeader(file, offset, `tensor ${quote(name)} begins ${describeGap(offset - expected)}`);
    expected += bytes;
  }
  if (expected !== fileSize) throw badHeader(file, expected, `the tensors end at byte ${expected} and the file has ${fileSize} bytes`);
}

function describeGap(difference: number): string {
  return difference > 0 ? `${difference} bytes after the end of the one before it` : `${-difference} bytes before the end of the one before it`;
}
