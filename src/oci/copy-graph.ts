import { mapConcurrent, twice } from '../bytes/index.js';
import {
  assertWanted,
  type BlobContent,
  type BlobSink,
  type BlobSource,
  createError,
  type Descriptor,
  isToolkitError,
  type Limits,
  type Progress,
  type ProgressItem,
} from '../core/index.js';
import { type ManifestNode, walkGraph } from './graph.js';

export interface CopyOptions {
  readonly limits: Limits;
  readonly progress: Progress;
  /** Blobs under way at a time. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes of everything the root names, and how many of them the sink did not or did have before. */
export interface CopyResult {
  readonly total: number;
  readonly sent: number;
  readonly skipped: number;
}

/**
 * Copies everything that `root` names, children before parents, so that a sink never holds a manifest without its blobs; naming it is
 * left to the caller. Blobs that the sink holds are not opened. An error names the blob and keeps its code; what was copied stays.
 */
export async function copyGraph(root: Descriptor, source: BlobSource, sink: BlobSink, options: CopyOptions): Promise<CopyResult> {
  const result = { total: 0, sent: 0, skipped: 0 };
  const copy = async (descriptor: Descriptor, label: string, content: BlobContent) => {
    const fresh = await copyBlob(descriptor, label, content, sink, options);
    result.total += descriptor.size;
    result[fresh ? 'sent' : 'skipped'] += descriptor.size;
  };
  for await (const node of walkGraph(root, source, { limits: options.limits, order: 'children-first' })) {
    await copyNode(node, source, options, copy);
  }
  return result;
}

type Copy = (descriptor: Descriptor, label: string, content: BlobContent) => Promise<void>;

async function copyNode(node: ManifestNode, source: BlobSource, { concurrency }: CopyOptions, copy: Copy): Promise<void> {
  await mapConcurrent(node.leaves, concurrency, ({ descriptor, label }) => copy(descriptor, label, { kind: 'blob', blobs: source, descriptor }));
  await copy(node.descriptor, node.label, { kind: 'bytes', bytes: node.bytes });
}

async function copyBlob(descriptor: Descriptor, label: string, content: BlobContent, sink: BlobSink, options: CopyOptions): Promise<boolean> {
  const { digest, size, mediaType } = descriptor;
  const { signal } = options;
  const item: ProgressItem = options.progress.start('copy', label, size);
  try {
    assertWanted(signal);
    const { fresh } = await twice(() => sink.put(content, { expected: { digest, size }, mediaType, progress: item, signal }));
    item.done(fresh ? 'done' : 'skipped');
    return fresh;
  } catch (error) {
    item.done('failed');
    throw named(error, label, descriptor);
  }
}

/** Says which blob of the package it was; the reason stays in its own words. */
function named(error: unknown, label: string, { digest }: Descriptor): unknown {
  if (!isToolkitError(error) || error.code === 'core/cancelled') return error;
  return createError(error.code, {
    message: `Cannot copy ${label} (${digest}): ${error.message}`,
    hint: error.hint,
    where: error.where ?? digest,
    cause: error,
    findings: error.findings,
  });
}
