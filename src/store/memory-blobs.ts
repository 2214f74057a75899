import { collect, digestOf, fromBytes, openContent, verified } from '../bytes/index.js';
import {
  assertWanted,
  type BlobContent,
  type BlobSink,
  type BlobSource,
  createError,
  type Descriptor,
  type Digest,
  type PutOptions,
  type StoredBlob,
} from '../core/index.js';

/** Blobs that are held in memory. */
export interface MemoryBlobs {
  readonly place: BlobSource & BlobSink;
  /** The bytes as they are; they are not to be changed. */
  readonly bytes: Map<Digest, Uint8Array>;
  /** Throws `store/blob-missing` or `bytes/size-mismatch`. */
  readonly read: (promised: Pick<Descriptor, 'digest' | 'size'>) => Uint8Array;
}

export function createMemoryBlobs(): MemoryBlobs {
  const blobs = new Map<Digest, Uint8Array>();
  const read = ({ digest, size }: Pick<Descriptor, 'digest' | 'size'>) => {
    const bytes = blobs.get(digest);
    if (bytes === undefined)
      throw createError('store/blob-missing', { message: `Cannot read the blob ${digest}: it is not in the store`, where: digest });
    if (bytes.byteLength === size) return bytes;
    throw createError('bytes/size-mismatch', {
      message: `Cannot use the blob ${digest}: expected ${size} bytes, found ${bytes.byteLength}`,
      where: digest,
    });
  };
  const place: BlobSource & BlobSink = {
    has: async ({ digest, size }) => blobs.get(digest)?.byteLength === size,
    open: async (descriptor, range) => {
      const bytes = read(descriptor);
      return range === undefined
        ? verified(fromBytes(bytes), descriptor, `the blob ${descriptor.digest}`)
        : fromBytes(bytes.subarray(range.start, range.end));
    },
    put: async (content, options = {}) => {
      const { expected } = options;
      if (expected !== undefined && blobs.get(expected.digest)?.byteLength === expected.size) return { ...expected, fresh: false };
      const { blob, bytes } = await build(content, options);
      const fresh = !blobs.has(blob.digest);
      blobs.set(blob.digest, bytes);
      return { ...blob, fresh };
    },
  };
  return { bytes: blobs, read, place };
}

async function build(
  content: BlobContent,
  { expected, progress, signal }: PutOptions,
): Promise<{ blob: Omit<StoredBlob, 'fresh'>; bytes: Uint8Array }> {
  let diffId: Digest | undefined;
  const onBytes = (count: number) => {
    assertWanted(signal);
    progress?.advance(count);
  };
  const stream = openContent(content, { onBytes, ...(content.kind === 'tar' ? { onDiffId: (digest: Digest) => (diffId = digest) } : {}) });
  const bytes = await collect(expected === undefined ? stream : verified(stream, expected, expected.digest), Number.MAX_SAFE_INTEGER, 'the blob');
  const blob = { digest: expected?.digest ?? digestOf(bytes), size: bytes.byteLength, ...(diffId === undefined ? {} : { diffId }) };
  return { blob, bytes };
}
