import { assertWanted, type BlobContent, type ByteCounters, createCounters, type Digest, parseDigest } from '../core/index.js';
import { openContent, sizeOfContent } from './content.js';
import { type BlobOutput, OutputFile } from './output-file.js';
import { pump } from './pump.js';
import { createStreamHash } from './threads/stream-hash.js';

export interface BuiltBlob {
  readonly digest: Digest;
  readonly size: number;
  /** Of a tar: the digest of its bytes before compression. */
  readonly diffId?: Digest;
}

export interface BuildBlobOptions {
  readonly counters?: ByteCounters | undefined;
  /** Told how many more bytes, counted before compression, went through. */
  readonly onBytes?: ((delta: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** fsync before it is done; true by default. */
  readonly sync?: boolean | undefined;
}

/**
 * Makes the bytes of a blob, hashes them and writes them to `output`, a new file (`bytes/exists`) or a place in one that exists;
 * without output they are only hashed. One pass: each byte is read once and written at most once; a compressed tar is hashed
 * before and after. After a failure or an abort (`core/cancelled`) a file that was created is gone. Large blobs are hashed and compressed
 * in threads: call it for several at a time.
 */
export async function buildBlob(content: BlobContent, output: BlobOutput | undefined, options: BuildBlobOptions = {}): Promise<BuiltBlob> {
  const file = output === undefined ? undefined : await OutputFile.open(output);
  try {
    const built = await build(content, file, options);
    await file?.finish(options.sync ?? true);
    return built;
  } catch (error) {
    await file?.discard();
    throw error;
  }
}

async function build(content: BlobContent, file: OutputFile | undefined, options: BuildBlobOptions): Promise<BuiltBlob> {
  const { counters = createCounters(), onBytes, signal } = options;
  const watched = (bytes: number) => {
    assertWanted(signal);
    onBytes?.(bytes);
  };
  let diffId: Digest | undefined;
  const onDiffId = isCompressed(content) ? (digest: Digest) => (diffId = digest) : undefined;
  const hash = createStreamHash('sha256', sizeOfContent(content) ?? 0);
  try {
    const size = await pump(openContent(content, { counters, onBytes: watched, onDiffId }), hash, file, counters);
    const digest = parseDigest(`sha256:${await hash.digest()}`);
    return content.kind === 'tar' ? { digest, size, diffId: diffId ?? digest } : { digest, size };
  } finally {
    hash.drop();
  }
}

function isCompressed(content: BlobContent): boolean {
  return content.kind === 'tar' && content.compression !== 'none';
}
