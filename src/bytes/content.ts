import { createHash } from 'node:crypto';
import {
  type BlobContent,
  type ByteCounters,
  type ByteStream,
  type Digest,
  parseDigest,
  type StoredContent,
  type StreamContent,
  type TarContent,
} from '../core/index.js';
import { compress } from './compression/compression.js';
import { fromBytes } from './streams.js';
import { exactly, openTar } from './tar/tar-stream.js';
import { tarSize } from './tar/tar-write.js';
import { fromWholeFile } from './whole-file.js';

export interface OpenContentOptions {
  /** Told what is read from the disk, and hashed for the diffId. */
  readonly counters?: ByteCounters | undefined;
  /** Called once after the last byte of a tar with the digest of the bytes before compression; costs a hash. */
  readonly onDiffId?: ((digest: Digest) => void) | undefined;
  /** Called with the length of every chunk before compression. What it throws ends the stream. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * The bytes of a blob as one stream; those of a tar are framed, and compressed where it says so, on the way. Throws
 * `bytes/file-changed` for a file that is not, or no longer, as it was listed, `bytes/size-mismatch` for a stream that is not
 * as long as it said.
 */
export function openContent(content: BlobContent, options: OpenContentOptions = {}): ByteStream {
  const plain = openPlain(content, options.counters);
  const watched = options.onBytes === undefined ? plain : watch(plain, options.onBytes);
  return content.kind === 'tar' ? openLayer(content, watched, options) : watched;
}

function openPlain(content: BlobContent, counters: ByteCounters | undefined): ByteStream {
  switch (content.kind) {
    case 'bytes':
      return fromBytes(content.bytes);
    case 'file':
      return fromWholeFile(content, counters);
    case 'stream':
      return fromSource(content);
    case 'blob':
      return fromBlob(content);
    case 'tar':
      return openTar(content.members, counters);
  }
}

/** A range keeps the source from hashing what is hashed here anyway. */
async function* fromBlob({ blobs, descriptor }: StoredContent, start = 0): ByteStream {
  const { size } = descriptor;
  yield* exactly(await blobs.open(descriptor, { start, end: size }), size - start);
}

/** How many bytes will come, before compression; undefined when that is not known. */
export function sizeOfContent(content: BlobContent): number | undefined {
  if (content.kind === 'bytes') return content.bytes.byteLength;
  if (content.kind === 'blob') return content.descriptor.size;
  return content.kind === 'tar' ? tarSize(content.members) : content.size;
}

async function* fromSource(content: StreamContent): ByteStream {
  const stream = await content.open();
  yield* content.size === undefined ? stream : exactly(stream, content.size);
}

function openLayer(content: TarContent, plain: ByteStream, { counters, onDiffId }: OpenContentOptions): ByteStream {
  const hashed = onDiffId === undefined ? plain : digested(plain, onDiffId, counters);
  return content.compression === 'none' ? hashed : compress(hashed, content.compression);
}

/** The same from byte `offset` on: files and blobs begin there, what has to be made is made again and passed over. Nothing is known of its diffId. */
export async function* openContentFrom(content: BlobContent, offset: number, counters?: ByteCounters): ByteStream {
  if (content.kind === 'file') yield* fromWholeFile(content, counters, offset);
  else if (content.kind === 'blob') yield* fromBlob(content, offset);
  else yield* pastBytes(openContent(content, { counters }), offset);
}

async function* pastBytes(stream: ByteStream, count: number): ByteStream {
  let left = count;
  for await (const chunk of stream) {
    if (left < chunk.byteLength || chunk.byteLength === 0) yield chunk.subarray(left);
    left = Math.max(0, left - chunk.byteLength);
  }
}

async function* watch(stream: ByteStream, onBytes: (bytes: number) => void): ByteStream {
  for await (const chunk of stream) {
    yield chunk;
    onBytes(chunk.byteLength);
  }
}

async function* digested(stream: ByteStream, onDigest: (digest: Digest) => void, counters: ByteCounters | undefined): ByteStream {
  const hash = createHash('sha256');
  for await (const chunk of stream) {
    hash.update(chunk);
    if (counters !== undefined) counters.hashed += chunk.byteLength;
    yield chunk;
  }
  onDigest(parseDigest(`sha256:${hash.digest('hex')}`));
}
