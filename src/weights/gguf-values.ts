import { quote } from './bad-header.js';
import type { ForwardReader } from './forward-reader.js';

/** Arrays of at most this many elements are kept; vocabularies and merges are longer. */
const keptElements = 1024;
/** Shortest encoding of a string: its length. */
const stringHead = 8;
const stringType = 8;
const arrayType = 9;

interface Scalar {
  readonly word: string;
  readonly bytes: number;
  readonly read: (reader: ForwardReader) => unknown;
}

const scalars: Readonly<Record<number, Scalar>> = {
  0: { word: 'u8', bytes: 1, read: (reader) => reader.u8() },
  1: { word: 'i8', bytes: 1, read: (reader) => reader.i8() },
  2: { word: 'u16', bytes: 2, read: (reader) => reader.u16() },
  3: { word: 'i16', bytes: 2, read: (reader) => reader.i16() },
  4: { word: 'u32', bytes: 4, read: (reader) => reader.u32() },
  5: { word: 'i32', bytes: 4, read: (reader) => reader.i32() },
  6: { word: 'f32', bytes: 4, read: (reader) => reader.f32() },
  7: { word: 'bool', bytes: 1, read: readBool },
  10: { word: 'u64', bytes: 8, read: (reader) => toNumberOrText(reader.u64()) },
  11: { word: 'i64', bytes: 8, read: (reader) => toNumberOrText(reader.i64()) },
  12: { word: 'f64', bytes: 8, read: (reader) => reader.f64() },
};

/** An array that was passed over: its length and the type of its elements. */
export interface SkippedArray {
  readonly elements: number;
  readonly of: string;
}

/** A value of the given type code. Whole numbers beyond 2^53 come as decimal text. */
export async function readGgufValue(reader: ForwardReader, type: number, maxString: number): Promise<unknown> {
  if (type === stringType) return readGgufString(reader, maxString, false);
  if (type === arrayType) return readArray(reader, maxString);
  const scalar = findScalar(reader, type);
  await reader.fill(scalar.bytes, `a ${scalar.word}`);
  return scalar.read(reader);
}

/** A name (`strict`: UTF-8 or an error) or a text. */
export async function readGgufString(reader: ForwardReader, maxBytes: number, strict: boolean): Promise<string> {
  await reader.fill(stringHead, 'a string length');
  const length = boundedLength(reader, maxBytes);
  await reader.fill(length, 'a string');
  return reader.text(length, strict);
}

function boundedLength(reader: ForwardReader, maxBytes: number): number {
  const length = reader.count('a string length');
  if (length > maxBytes) throw reader.bad(`a string has ${length} bytes and at most ${maxBytes} are read`);
  return length;
}

async function readArray(reader: ForwardReader, maxString: number): Promise<readonly unknown[] | SkippedArray> {
  await reader.fill(12, 'an array head');
  const type = reader.u32();
  const count = reader.count('an array length');
  if (type === arrayType) throw reader.bad('an array of arrays is not allowed');
  const scalar = type === stringType ? undefined : findScalar(reader, type);
  if (count * (scalar?.bytes ?? stringHead) > reader.remaining)
    throw reader.bad(`an array of ${count} elements is longer than the ${reader.remaining} bytes left`);
  if (count <= keptElements) return readElements(reader, type, count, maxString);
  if (scalar === undefined) await passStrings(reader, count, maxString);
  else reader.skip(count * scalar.bytes);
  return { elements: count, of: scalar?.word ?? 'string' };
}

async function readElements(reader: ForwardReader, type: number, count: number, maxString: number): Promise<unknown[]> {
  const values: unknown[] = [];
  for (let index = 0; index < count; index++) values.push(await readGgufValue(reader, type, maxString));
  return values;
}

/** A vocabulary has some 100,000 short strings: waits only at the end of a window. */
async function passStrings(reader: ForwardReader, count: number, maxString: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    if (reader.buffered < stringHead) await reader.fill(stringHead, 'a string length');
    const length = boundedLength(reader, maxString);
    if (reader.buffered < length) await reader.fill(length, 'a string');
    reader.pass(length);
  }
}

function findScalar(reader: ForwardReader, type: number): Scalar {
  const scalar = scalars[type];
  if (scalar === undefined) throw reader.bad(`the value type ${quote(String(type))} is unknown`);
  return scalar;
}

function readBool(reader: ForwardReader): boolean {
  const value = reader.u8();
  if (value > 1) throw reader.bad(`a bool is ${value} and must be 0 or 1`);
  return value === 1;
}

function toNumberOrText(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}
