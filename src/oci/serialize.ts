import { digestOf } from '../bytes/index.js';
import { createError, type Descriptor, type Limits } from '../core/index.js';

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

/** The same for a manifest or an index; larger than registries have to take throws `oci/too-large`. (distribution-spec 1.1, Pushing Manifests) */
export function serializeManifest(value: unknown, mediaType: string, limits: Limits): SerializedBlob {
  const blob = serialize(value, mediaType);
  if (blob.bytes.byteLength > limits.writtenManifestBytes) {
    throw createError('oci/too-large', {
      message: `Cannot write the manifest: expected at most ${limits.writtenManifestBytes} bytes, which every registry takes, found ${blob.bytes.byteLength}`,
      hint: 'Put many small files into one layer, or shorten annotations',
    });
  }
  return blob;
}
