import {
  createError,
  findDtype,
  isToolkitError,
  type Limits,
  type NumericTensor,
  type PlainTensor,
  type StringTensor,
  type Tensor,
} from '../../core/index.js';
import { parseTypedToml, type TomlValue, writeToml } from '../../text/index.js';
import type { IndexEntry } from './carton.js';
import { cartonDtypes, tensorFolder } from './spec.js';

/** Where tensors come from: the index by name, and the files below tensor_data/. */
export interface TensorFiles {
  readonly entries: ReadonlyMap<string, IndexEntry>;
  readonly limits: Limits;
  /** A member, or why its bytes cannot be had. */
  find(path: string): TensorFile | string;
}

/** `read` holds the bytes against MANIFEST and throws `bytes/digest-mismatch`. */
export interface TensorFile {
  readonly size: number;
  read(): Promise<Uint8Array>;
}

/**
 * The tensor of an entry. Throws `carton/bad-tensor` when its file is not what the index says, `bytes/limit`, and what reading throws. Tensors inside
 * a nested one may be shared by several, but are plain themselves. (tensor_data)
 */
export async function loadTensor(entry: IndexEntry, files: TensorFiles): Promise<Tensor> {
  if (entry.kind === 'plain') return loadPlain(entry, files, files.limits.tensorBytes);
  const loaded = new Map<string, PlainTensor>();
  let left = files.limits.tensorBytes;
  for (const name of new Set(entry.inner)) {
    const found = files.entries.get(name);
    if (found === undefined) throw badTensor(entry.name, `its inner tensor ${JSON.stringify(name)} is not in the index`);
    if (found.kind === 'nested') throw badTensor(entry.name, `its inner tensor ${JSON.stringify(name)} is nested itself`);
    const tensor = await loadPlain(found, files, left);
    left -= tensor.kind === 'numeric' ? tensor.bytes.byteLength : 0;
    loaded.set(name, tensor);
  }
  return { kind: 'nested', inner: entry.inner.map((name) => loaded.get(name) as PlainTensor) };
}

async function loadPlain(entry: IndexEntry & { readonly kind: 'plain' }, files: TensorFiles, limit: number): Promise<PlainTensor> {
  const path = `${tensorFolder}${entry.file}`;
  const file = files.find(path);
  if (typeof file === 'string') throw badTensor(entry.name, file, path);
  const { name, dtype, shape } = entry;
  const count = countElements(shape);
  if (dtype === 'string') {
    if (file.size > files.limits.tensorTextBytes) throw tooLarge(name, path, file.size, files.limits.tensorTextBytes);
    return { kind: 'string', shape, values: parseValues(name, await file.read(), path, count, files.limits) };
  }
  const expected = count * bytesOf(dtype);
  if (file.size !== expected)
    throw badTensor(name, `${dtype} [${shape.join(', ')}] takes ${expected} bytes, ${JSON.stringify(path)} has ${file.size}`, path);
  if (expected > limit) throw tooLarge(name, path, expected, limit);
  return { kind: 'numeric', dtype, shape, bytes: await file.read() };
}

function tooLarge(name: string, where: string, size: number, limit: number): Error {
  return createError('bytes/limit', {
    message: `Cannot hold the tensor ${JSON.stringify(name)} in memory: it is ${size} bytes long and at most ${limit} are read`,
    where,
  });
}

/** Above what a number counts exactly the result is only large. */
function countElements(shape: readonly number[]): number {
  return shape.includes(0) ? 0 : shape.reduce((product, size) => product * size, 1);
}

function bytesOf(dtype: NumericTensor['dtype']): number {
  return (findDtype('name', dtype)?.bits ?? 0) / 8;
}

function parseValues(name: string, bytes: Uint8Array, path: string, count: number, limits: Limits): readonly string[] {
  const data = parseData(name, bytes, path, limits);
  const values = Array.isArray(data) ? (data as readonly TomlValue[]) : undefined;
  const texts = values?.filter((value) => typeof value === 'string');
  if (values === undefined || texts?.length !== values.length)
    throw badTensor(name, `expected "data" in ${JSON.stringify(path)} to be a flat list of texts`, path);
  if (texts.length === count) return texts;
  throw badTensor(name, `its shape takes ${count} texts, ${JSON.stringify(path)} has ${texts.length}`, path);
}

function parseData(name: string, bytes: Uint8Array, path: string, limits: Limits): TomlValue | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return parseTypedToml(text, path, { ...limits, personFileBytes: limits.tensorTextBytes }).value['data'];
  } catch (cause) {
    if (cause instanceof TypeError) throw badTensor(name, `${JSON.stringify(path)} is not UTF-8`, path);
    if (!isToolkitError(cause, 'buildfile/syntax')) throw cause;
    throw badTensor(name, cause.message, cause.where);
  }
}

/** The file of a tensor: `.bin` little-endian as it is in memory, texts as `.toml`. Throws `carton/cannot-write` for what a carton has no place for. */
export function encodeTensor(tensor: PlainTensor): { readonly bytes: Uint8Array; readonly extension: 'bin' | 'toml' } {
  return tensor.kind === 'string' ? encodeTexts(tensor) : encodeNumbers(tensor);
}

function encodeTexts({ shape, values }: StringTensor): ReturnType<typeof encodeTensor> {
  if (values.length !== countElements(shape))
    throw cannotWrite(`its shape [${shape.join(', ')}] takes ${countElements(shape)} texts, it has ${values.length}`);
  const odd = values.find((value) => /\p{Surrogate}/u.test(value));
  if (odd !== undefined) throw cannotWrite(`${JSON.stringify(odd.slice(0, 80))} is not valid Unicode`);
  return { bytes: Buffer.from(writeToml({ data: values })), extension: 'toml' };
}

function encodeNumbers({ dtype, shape, bytes }: NumericTensor): ReturnType<typeof encodeTensor> {
  const words: readonly string[] = cartonDtypes;
  if (!words.includes(dtype)) throw cannotWrite(`a carton has no ${dtype}; expected one of ${cartonDtypes.join(', ')}`);
  const expected = countElements(shape) * bytesOf(dtype);
  if (bytes.byteLength !== expected) throw cannotWrite(`${dtype} [${shape.join(', ')}] takes ${expected} bytes, it has ${bytes.byteLength}`);
  return { bytes, extension: 'bin' };
}

export function badTensor(name: string, reason: string, where?: string): Error {
  return createError('carton/bad-tensor', {
    message: `Cannot use the tensor ${JSON.stringify(name)}: ${reason}`,
    hint: 'Pack the model again; `modelport validate` lists all that is wrong',
    where,
  });
}

function cannotWrite(reason: string): Error {
  return createError('carton/cannot-write', { message: `Cannot write a tensor into a carton: ${reason}`, hint: 'Convert the tensor before packing' });
}
