import { buildBlob, openContent, verified } from '../bytes/index.js';
import { type BlobContent, type ByteCounters, createError, type Digest, type PutOptions, splitDigest, type StoredBlob } from '../core/index.js';
import type { Promised } from './blob-file.js';

export interface BuildOutput {
  readonly path: string;
  /** Where in an existing file the blob begins; absent: the file is the blob. */
  readonly position?: number;
}

export interface BuildSettings {
  readonly counters: ByteCounters;
  /** Whether the file has to be on the disk before the promise resolves. */
  readonly sync: boolean;
}

/** Writes content once (without `output` it is only read), hashed on the way, and holds it against what `expected` promises: `bytes/digest-mismatch`, `bytes/size-mismatch`. */
export async function buildChecked(
  content: BlobContent,
  output: BuildOutput | undefined,
  { expected, progress, signal }: PutOptions,
  settings: BuildSettings,
): Promise<Omit<StoredBlob, 'fresh'>> {
  const pinned = pin(content, expected, settings.counters);
  const onBytes = (count: number) => progress?.advance(count);
  const built = await buildBlob(pinned.content, output, { ...settings, onBytes, ...(signal === undefined ? {} : { signal }) });
  const blob = pinned.judged === undefined ? built : { ...built, digest: pinned.judged };
  assertExpected(blob, expected);
  return blob;
}

/**
 * A promised size bounds what is written. A blob named by another algorithm than the one that building computes is judged by its
 * own while it is read, and then bears that name.
 */
function pin(content: BlobContent, expected: Promised | undefined, counters: ByteCounters): { content: BlobContent; judged?: Digest } {
  if (expected === undefined) return { content };
  if (splitDigest(expected.digest).algorithm === 'sha256')
    return { content: content.kind === 'stream' ? { ...content, size: expected.size } : content };
  const open = async () => verified(openContent(content, { counters }), expected, expected.digest, counters);
  return { content: { kind: 'stream', size: expected.size, open }, judged: expected.digest };
}

function assertExpected(found: Promised, expected: Promised | undefined): void {
  if (expected === undefined) return;
  if (found.size !== expected.size) {
    throw createError('bytes/size-mismatch', {
      message: `Cannot store ${expected.digest}: expected ${expected.size} bytes, found ${found.size}`,
      where: expected.digest,
    });
  }
  if (found.digest !== expected.digest) {
    throw createError('bytes/digest-mismatch', {
      message: `Cannot store ${expected.digest}: the bytes hash to ${found.digest}`,
      where: expected.digest,
    });
  }
}
