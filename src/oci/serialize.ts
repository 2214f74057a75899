import { digestOf } from '../bytes/index.js';
import type { Descriptor } from '../core/index.js';

/** JSON without any spare white space, keys in the order given, absent values left out: the same value gives the same bytes everywhere. */
export function toJsonBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

export interface SerializedBlob {
  readonly descriptor: Descriptor;
  readonly bytes: Uint8Array;
}

/** A value as the bytes of a blob and the descriptor that names them. */
export function serialize(value: unknown, mediaType: string): SerializedBlob {
  const bytes = toJsonBytes(value);
  return { bytes, descriptor: { mediaType, digest: digestOf(bytes), size: bytes.byteLength } };
}
