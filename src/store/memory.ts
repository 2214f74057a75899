import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBytes, verified } from '../bytes/index.js';
import { type BlobContent, type ContentStore, createCounters, createError, type Descriptor, type Digest, type PutOptions, type StoredBlob } from '../core/index.js';
import { buildChecked } from './build-checked.js';

/** A store that is gone with the process, for tests and small things: every blob is held in memory. */
export function createMemoryStore(): ContentStore {
  const blobs = new Map<Digest, Uint8Array>();
  const names = new Map<string, Descriptor>();
  const find = ({ digest, size }: Descriptor) => {
    const bytes = blobs.get(digest);
    if (bytes === undefined) throw createError('store/blob-missing', { message: `Cannot read the blob ${digest}: it is not in the store`, where: digest });
    if (bytes.byteLength === size) return bytes;
    throw createError('bytes/size-mismatch', { message: `Cannot use the blob ${digest}: expected ${size} bytes, found ${bytes.byteLength}`, where: digest });
  };
  return {
    has: async ({ digest, size }) => blobs.get(digest)?.byteLength === size,
    open: async (descriptor, range) => {
      const bytes = find(descriptor);
      return range === undefined ? verified(fromBytes(bytes), descriptor, `the blob ${descriptor.digest}`) : fromBytes(bytes.subarray(range.start, range.end));
    },
    put: async (content, options = {}) => {
      const { expected } = options;
      if (expected !== undefined && blobs.get(expected.digest)?.byteLength === expected.size) return { ...expected, fresh: false };
      const { blob, bytes } = await build(content, options);
      const fresh = !blobs.has(blob.digest);
      blobs.set(blob.digest, bytes);
      return { ...blob, fresh };
    },
    resolve: async (name) => names.get(name),
    tag: async (name, descriptor) => {
      find(descriptor);
      names.set(name, descriptor);
    },
    list: async () => [...names].map(([name, descriptor]) => ({ name, descriptor })),
  };
}

/** Blobs are built on disk everywhere else, so a temp folder keeps this store equal to the others in all that counts. */
async function build(content: BlobContent, options: PutOptions): Promise<{ blob: Omit<StoredBlob, 'fresh'>; bytes: Uint8Array }> {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-memory-'));
  try {
    const path = join(folder, 'blob');
    const blob = await buildChecked(content, { path }, options, { counters: createCounters(), sync: false });
    return { blob, bytes: readFileSync(path) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
