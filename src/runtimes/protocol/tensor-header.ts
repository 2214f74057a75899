import { type DtypeName, findDtype, isJsonObject } from '../../core/index.js';

/** What the header of a frame says of one piece of bytes. Of `string` the bytes are a JSON list of the elements. */
export interface PieceHeader {
  readonly dtype: DtypeName;
  readonly shape: readonly number[];
  readonly bytes: number;
}

export type TensorHeader =
  | (PieceHeader & { readonly name: string })
  | { readonly name: string; readonly dtype: 'nested'; readonly inner: readonly PieceHeader[] };

/** The number of elements; undefined when it is more than a number can hold exactly. */
export function countElements(shape: readonly number[]): number | undefined {
  if (shape.includes(0)) return 0;
  const count = shape.reduce((product, extent) => product * extent, 1);
  return Number.isSafeInteger(count) ? count : undefined;
}

/** Throws an Error with the reason alone. */
export function parseTensorHeaders(value: unknown): readonly TensorHeader[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Error('"tensors" of its header is no list');
  const headers = value.map(parseTensorHeader);
  const names = new Set(headers.map(({ name }) => name));
  if (names.size < headers.length) throw new Error('two tensors of it have the same name');
  return headers;
}

function parseTensorHeader(value: unknown): TensorHeader {
  if (!isJsonObject(value) || typeof value['name'] !== 'string') throw new Error('a tensor of it has no name');
  const { name, dtype, inner } = value;
  if (dtype !== 'nested') return { name, ...parsePiece(value, name) };
  if (!Array.isArray(inner)) throw new Error(`the nested tensor ${JSON.stringify(name)} has no list of inner ones`);
  return { name, dtype, inner: inner.map((piece: unknown) => parsePiece(piece, name)) };
}

function parsePiece(value: unknown, name: string): PieceHeader {
  const quoted = JSON.stringify(name);
  if (!isJsonObject(value)) throw new Error(`the tensor ${quoted} holds one that is not described`);
  const { shape, bytes } = value;
  const dtype = typeof value['dtype'] === 'string' ? findDtype('name', value['dtype']) : undefined;
  if (dtype === undefined) throw new Error(`the tensor ${quoted} has the dtype ${JSON.stringify(value['dtype'])}, which does not exist`);
  if (!Array.isArray(shape) || !shape.every(isCount)) throw new Error(`the tensor ${quoted} has no shape of whole numbers`);
  if (!isCount(bytes)) throw new Error(`the tensor ${quoted} does not say how many bytes it has`);
  const count = countElements(shape);
  if (count === undefined) throw new Error(`the tensor ${quoted} has more elements than can be counted`);
  const expected = Math.ceil((count * dtype.bits) / 8);
  if (dtype.name !== 'string' && bytes !== expected) {
    throw new Error(`the tensor ${quoted} has ${bytes} bytes, but ${dtype.name} of shape [${shape.join(', ')}] has ${expected}`);
  }
  return { dtype: dtype.name, shape, bytes };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
