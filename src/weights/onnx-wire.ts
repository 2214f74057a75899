import type { ForwardReader } from './forward-reader.js';

/** The head of one protobuf field. `value` is a varint's number, or the length of a block; fixed-width fields are passed over. */
export interface Field {
  readonly number: number;
  readonly wire: number;
  readonly value: number;
  /** Where the field ends in the file. */
  readonly end: number;
}

/** What to do with a field, by its number. A field without a handler is skipped, and so is what a handler leaves of it. */
export type Handlers = Readonly<Record<number, (field: Field) => Promise<void> | void>>;

const varint = 0;
const fixed64 = 1;
const block = 2;
const fixed32 = 5;
/** A tag and a value, each a varint of at most ten bytes. */
const longestHead = 20;
/** An empty message has two bytes and costs a function call: millions of them should not pass as a small header. */
const messageCost = 32;

/** The fields of one message, which ends at byte `end`. Nested messages are bounded by their parent, groups are refused. */
export async function readMessage(reader: ForwardReader, end: number, handlers: Handlers): Promise<void> {
  reader.charge(messageCost);
  while (reader.position < end) {
    const wanted = Math.min(longestHead, end - reader.position);
    if (reader.buffered < wanted) await reader.fill(wanted);
    const field = readField(reader, end);
    const pending = handlers[field.number]?.(field);
    if (pending !== undefined) await pending;
    reader.skip(field.end - reader.position);
  }
}

function readField(reader: ForwardReader, end: number): Field {
  const tag = readVarint(reader);
  const number = Math.floor(tag / 8);
  const wire = tag % 8;
  if (number < 1 || tag > 0xffffffff) throw reader.bad(`the field tag ${tag} is no tag`);
  if (wire !== varint && wire !== fixed64 && wire !== block && wire !== fixed32)
    throw reader.bad(`field ${number} has the wire type ${wire}, which is not used`);
  const value = wire === varint || wire === block ? readVarint(reader) : 0;
  const length = wire === fixed64 ? 8 : wire === fixed32 ? 4 : wire === block ? value : 0;
  const left = end - reader.position;
  if (left < 0 || length < 0 || length > left)
    throw reader.bad(`field ${number} has ${length} bytes and its message ends after ${Math.max(left, 0)}`);
  return { number, wire, value, end: reader.position + length };
}

/** As a signed 64-bit number. Beyond 2^53 it is rounded, which Number.isSafeInteger tells. */
function readVarint(reader: ForwardReader): number {
  let low = 0;
  for (let index = 0; index < 7; index++) {
    const byte = reader.u8();
    low += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return low;
  }
  let value = BigInt(low);
  for (let index = 7; index < 10; index++) {
    const byte = reader.u8();
    value |= BigInt(byte & 0x7f) << BigInt(7 * index);
    if (byte < 0x80) return Number(BigInt.asIntN(64, value));
  }
  throw reader.bad('a number has more than ten bytes');
}

/** The message inside a field. */
export function readInside(reader: ForwardReader, field: Field, handlers: Handlers): Promise<void> {
  return readMessage(reader, assertBlock(reader, field).end, handlers);
}

export async function readText(reader: ForwardReader, field: Field): Promise<string> {
  const length = assertBlock(reader, field).value;
  if (length > reader.budget) throw reader.bad(`a text has ${length} bytes and at most ${reader.budget} are read`);
  await reader.fill(length, 'a text');
  return reader.text(length, false);
}

/** A repeated number, in either of its two spellings: one field each, or all in one block. */
export async function readNumbers(reader: ForwardReader, field: Field, into: number[], most: number): Promise<void> {
  if (field.wire === varint) into.push(field.value);
  else {
    assertBlock(reader, field);
    while (reader.position < field.end && into.length <= most) {
      const wanted = Math.min(10, field.end - reader.position);
      if (reader.buffered < wanted) await reader.fill(wanted);
      into.push(readVarint(reader));
      if (reader.position > field.end) throw reader.bad('a number runs past the end of its field');
    }
  }
  if (into.length > most) throw reader.bad(`a list has more than ${most} numbers`);
}

export function toNumber(reader: ForwardReader, field: Field): number {
  if (field.wire !== varint) throw reader.bad(`field ${field.number} has the wire type ${field.wire} and a number was expected`);
  return field.value;
}

/** The same field, once it is known to be a block of bytes. */
export function assertBlock(reader: ForwardReader, field: Field): Field {
  if (field.wire !== block) throw reader.bad(`field ${field.number} has the wire type ${field.wire} and a block of bytes was expected`);
  return field;
}
