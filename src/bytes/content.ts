import { createHash } from 'node:crypto';
import { type BlobContent, type ByteCounters, type ByteStream, type Digest, parseDigest, type TarContent } from '../core/index.js';
import { compress } from './compression.js';
import { fromBytes } from './streams.js';
import { exactly, openTar } from './tar-stream.js';
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
export async function* openContent(content: BlobContent, options: OpenContentOptions = {}): ByteStream {
  const plain = watched(openPlain(content, options.counters), options.onBytes);
  if (content.kind === 'tar') yield* openLayer(content, plain, options);
  else yield* plain;
}

async function* openPlain(content: BlobContent, counters: ByteCounters | undefined): ByteStream {
  switch (content.kind) {
    case 'bytes':
      return yield* fromBytes(content.bytes);
    case 'file':
      return yield* fromWholeFile(content, counters);
    case 'stream':
      return yield* content.size === undefined ? await content.open() : exactly(await content.open(), content.size);
    case 'tar':
      return yield* openTar(content.members, counters);
  }
}

function openLayer(content: TarContent, plain: ByteStream, { counters, onDiffId }: OpenContentOptions): ByteStream {
  const hashed = onDiffId === undefined ? plain : digested(plain, onDiffId, counters);
  return content.compression === 'none' ? hashed : compress(hashed, content.compression);
}

async function* watched(stream: ByteStream, onBytes: ((bytes: number) => void) | undefined): ByteStream {
  if (onBytes === undefined) return yield* stream;
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
