import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RandomAccess } from '../../src/core/index.js';

export interface ReadLog {
  readonly reads: { readonly offset: number; readonly length: number }[];
}

/** An access that refuses what a forward-only source could not give, and notes what it was asked. `size` may pretend to more, as zeros. */
export function forwardOnly(bytes: Uint8Array, size = bytes.length): RandomAccess & ReadLog {
  const reads: ReadLog['reads'] = [];
  let reached = 0;
  return {
    reads,
    size,
    read: (offset, length) => {
      if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length) || length < 0) throw new Error(`read(${offset}, ${length})`);
      if (offset < reached) throw new Error(`read at ${offset}, behind ${reached}`);
      if (offset + length > size) throw new Error(`read up to ${offset + length} of ${size}`);
      reached = offset + length;
      reads.push({ offset, length });
      const result = new Uint8Array(length);
      result.set(bytes.subarray(offset, offset + length));
      return Promise.resolve(result);
    },
  };
}

export function digitsFile(name: string): Uint8Array {
  return readFileSync(fileURLToPath(new URL(`../../examples/digits/${name}`, import.meta.url)));
}

/** A header as given, its length before it, and `dataBytes` zeros behind it. */
export function makeSafetensors(header: unknown, dataBytes: number): Uint8Array {
  const json = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header));
  const bytes = Buffer.alloc(8 + json.length + dataBytes);
  bytes.writeBigUInt64LE(BigInt(json.length));
  json.copy(bytes, 8);
  return bytes;
}

/** Tensors one behind the other: name → dtype and shape, with the bytes that it needs. */
export function makeTensors(
  tensors: Readonly<Record<string, readonly [dtype: string, shape: readonly number[], bytes: number]>>,
  metadata?: Readonly<Record<string, string>>,
): Uint8Array {
  let end = 0;
  const entries = Object.entries(tensors).map(([name, [dtype, shape, bytes]]) => {
    const begin = end;
    end += bytes;
    return [name, { dtype, shape, data_offsets: [begin, end] }];
  });
  return makeSafetensors({ ...(metadata === undefined ? {} : { __metadata__: metadata }), ...Object.fromEntries(entries) }, end);
}

export function makeNpy(header: string, dataBytes: number, version = 1): Uint8Array {
  const text = Buffer.from(header, version < 3 ? 'latin1' : 'utf8');
  const length = Buffer.alloc(version === 1 ? 2 : 4);
  if (version === 1) length.writeUInt16LE(text.length);
  else length.writeUInt32LE(text.length);
  return Buffer.concat([Buffer.from('\x93NUMPY', 'latin1'), Buffer.from([version, 0]), length, text, Buffer.alloc(dataBytes)]);
}

/** `type` is the code of the value in GGUF; an array is `[9, [elementType, values]]`. */
export type GgufValue = readonly [type: number, value: unknown];

export interface GgufTensor {
  readonly name: string;
  /** Fastest first, as in the file. */
  readonly extents: readonly (number | bigint)[];
  readonly type: number;
  readonly offset: number | bigint;
}

export interface GgufRecipe {
  readonly version?: number;
  readonly bigEndian?: boolean;
  readonly keys?: readonly (readonly [key: string, ...GgufValue])[];
  readonly tensors?: readonly GgufTensor[];
  readonly tensorCount?: bigint;
  readonly keyCount?: bigint;
  readonly alignment?: number;
  readonly dataBytes?: number;
}

export function makeGguf(recipe: GgufRecipe): Uint8Array {
  const write = new GgufWriter(recipe.bigEndian ?? false);
  const { keys = [], tensors = [] } = recipe;
  write.raw(Buffer.from('GGUF'));
  write.u32(recipe.version ?? 3);
  write.u64(recipe.tensorCount ?? tensors.length);
  write.u64(recipe.keyCount ?? keys.length);
  for (const [key, type, value] of keys) {
    write.text(key);
    write.u32(type);
    write.value(type, value);
  }
  for (const { name, extents, type, offset } of tensors) {
    write.text(name);
    write.u32(extents.length);
    for (const extent of extents) write.u64(extent);
    write.u32(type);
    write.u64(offset);
  }
  if (recipe.dataBytes !== undefined) write.pad(recipe.alignment ?? 32, recipe.dataBytes);
  return write.bytes();
}

/** Grows as it goes. */
class GgufWriter {
  readonly #pieces: Buffer[] = [];

  constructor(readonly bigEndian: boolean) {}

  raw(bytes: Buffer): void {
    this.#pieces.push(bytes);
  }

  u32(value: number): void {
    const bytes = Buffer.alloc(4);
    if (this.bigEndian) bytes.writeUInt32BE(value);
    else bytes.writeUInt32LE(value);
    this.raw(bytes);
  }

  u64(value: number | bigint): void {
    const bytes = Buffer.alloc(8);
    if (this.bigEndian) bytes.writeBigUInt64BE(BigInt(value));
    else bytes.writeBigUInt64LE(BigInt(value));
    this.raw(bytes);
  }

  text(text: string): void {
    const bytes = Buffer.from(text);
    this.u64(bytes.length);
    this.raw(bytes);
  }

  value(type: number, value: unknown): void {
    if (type === 8) this.text(value as string);
    else if (type === 9) this.#array(value as readonly [number, readonly unknown[]]);
    else if (type === 4) this.u32(value as number);
    else if (type === 10) this.u64(value as number);
    else if (type === 6) this.u32(new Uint32Array(new Float32Array([value as number]).buffer)[0] ?? 0);
    else this.raw(Buffer.from([value as number]));
  }

  #array([type, values]: readonly [number, readonly unknown[]]): void {
    this.u32(type);
    this.u64(values.length);
    for (const value of values) this.value(type, value);
  }

  pad(alignment: number, dataBytes: number): void {
    const length = this.bytes().length;
    this.raw(Buffer.alloc(Math.ceil(length / alignment) * alignment - length + dataBytes));
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}

/** Protobuf by hand: a field that is a number, a text, or a message made of other fields. */
export function protoField(number: number, value: number | bigint | string | Uint8Array | readonly Uint8Array[]): Uint8Array {
  if (typeof value === 'number' || typeof value === 'bigint') return Buffer.concat([varint(number * 8), varint(value)]);
  const bytes = typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : Buffer.concat(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export function varint(value: number | bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Uint8Array.from(bytes);
}
