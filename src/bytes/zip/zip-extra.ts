import { crc32 } from 'node:zlib';
import { extraIds } from './zip-format.js';

/** Throws the error of the entry that the extra field belongs to. */
export type Refuse = (reason: string) => never;

/** The extra fields that change what an entry is; all others are left alone. */
export interface ZipExtra {
  readonly zip64?: Buffer;
  readonly unicodePath?: Buffer;
}

/** Fewer than four zeros at the end are padding, as tools write it that align content. */
export function parseExtra(bytes: Buffer, refuse: Refuse): ZipExtra {
  const found: { zip64?: Buffer; unicodePath?: Buffer } = {};
  let at = 0;
  for (; at + 4 <= bytes.length;) {
    const id = bytes.readUInt16LE(at);
    const end = at + 4 + bytes.readUInt16LE(at + 2);
    if (end > bytes.length) refuse('an extra field is longer than the room for it');
    const name = id === extraIds.zip64 ? 'zip64' : id === extraIds.unicodePath ? 'unicodePath' : undefined;
    if (name !== undefined && found[name] !== undefined) refuse('an extra field stands there twice');
    if (name !== undefined) found[name] = bytes.subarray(at + 4, end);
    at = end;
  }
  if (bytes.subarray(at).some((byte) => byte !== 0)) refuse('its extra fields end in the middle of one');
  return found;
}

/** A second name for readers that look for it must be the same name. (APPNOTE 4.6.9) */
export function assertSameName(extra: ZipExtra, name: Buffer, refuse: Refuse): void {
  const field = extra.unicodePath;
  if (field === undefined) return;
  const isSame = field.length >= 5 && field[0] === 1 && field.readUInt32LE(1) === crc32(name) && field.subarray(5).equals(name);
  if (!isSame) refuse('its Unicode path extra field names another file');
}

/** Reads the values whose 32-bit fields say that they stand in the zip64 extra field, in their order there. (APPNOTE 4.5.3) */
export class Zip64Values {
  readonly #field: Buffer | undefined;
  readonly #refuse: Refuse;
  #at = 0;

  constructor(field: Buffer | undefined, refuse: Refuse) {
    this.#field = field;
    this.#refuse = refuse;
  }

  /** `bytes` of it: 8, or 4 for the number of a disk. */
  take(value: number, sentinel: number, bytes: 4 | 8): number {
    if (value !== sentinel || this.#field === undefined) return value;
    if (this.#at + bytes > this.#field.length) this.#refuse('its zip64 extra field lacks a value');
    const large = bytes === 4 ? this.#field.readUInt32LE(this.#at) : readSafe(this.#field, this.#at);
    this.#at += bytes;
    return large ?? this.#refuse('a number in its zip64 extra field is larger than 2^53');
  }

  /** A value that no field asked for is one that another reader may believe. */
  finish(): void {
    if (this.#field !== undefined && this.#at !== this.#field.length) {
      this.#refuse('its zip64 extra field holds values although the fields for them hold others');
    }
  }
}

/** 64 bits; undefined where a JavaScript number cannot hold them. */
export function readSafe(bytes: Buffer, at: number): number | undefined {
  const value = Number(bytes.readBigUInt64LE(at));
  return Number.isSafeInteger(value) ? value : undefined;
}
