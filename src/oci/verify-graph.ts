import { drain, mapConcurrent } from '../bytes/index.js';
import {
  assertWanted,
  type BlobSource,
  type ByteStream,
  type Descriptor,
  type Finding,
  isToolkitError,
  type Limits,
  type Progress,
} from '../core/index.js';
import { type LeafNode, type ManifestNode, walkGraph } from './graph.js';

export interface VerifyOptions {
  readonly limits: Limits;
  readonly progress: Progress;
  /** Blobs being read at a time. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * Looks at the bytes of a blob on their way, so that a further check costs no second read: reads `stream` to its end (the digest is
   * judged there) and gives what it found. Absent: the digest alone counts.
   */
  readonly check?: (leaf: LeafNode, parent: ManifestNode, stream: ByteStream) => Promise<readonly Finding[]>;
}

export interface VerifyResult {
  /** Blobs and manifests that were read. */
  readonly blobs: number;
  readonly bytes: number;
  /** In the order of the manifest; empty when every byte is what was promised. */
  readonly problems: readonly Finding[];
}

/** Reads every byte that `root` names and holds it against its digest and size; goes on after a problem. */
export async function verifyGraph(root: Descriptor, source: BlobSource, options: VerifyOptions): Promise<VerifyResult> {
  const problems: Finding[] = [];
  const total = { blobs: 0, bytes: 0 };
  const count = ({ size }: Descriptor) => {
    total.blobs += 1;
    total.bytes += size;
  };
  const onUnreadable = (label: string, descriptor: Descriptor, error: unknown) => problems.push(toProblem(error, label, descriptor));
  for await (const node of walkGraph(root, source, { limits: options.limits, onUnreadable })) {
    count(node.descriptor);
    const found = await mapConcurrent(node.leaves, options.concurrency, async (leaf) => {
      const findings = await verifyLeaf(leaf, node, source, options);
      count(leaf.descriptor);
      return findings;
    });
    problems.push(...found.flat());
  }
  return { ...total, problems };
}

async function verifyLeaf(leaf: LeafNode, parent: ManifestNode, source: BlobSource, options: VerifyOptions): Promise<readonly Finding[]> {
  const item = options.progress.start('verify', leaf.label, leaf.descriptor.size);
  try {
    const stream = watched(await source.open(leaf.descriptor), item.advance.bind(item), options.signal);
    const findings = await (options.check?.(leaf, parent, stream) ?? drain(stream).then(() => []));
    item.done(findings.length === 0 ? 'done' : 'failed');
    return findings;
  } catch (error) {
    item.done('failed');
    return [toProblem(error, leaf.label, leaf.descriptor)];
  }
}

async function* watched(stream: ByteStream, advance: (bytes: number) => void, signal: AbortSignal | undefined): ByteStream {
  for await (const chunk of stream) {
    assertWanted(signal);
    advance(chunk.byteLength);
    yield chunk;
  }
}

/** What is wrong with the package is a finding; cancelling, and what is wrong with the program, is not. */
function toProblem(error: unknown, label: string, { digest }: Descriptor): Finding {
  if (!isToolkitError(error) || error.code === 'core/cancelled' || error.code === 'core/bug') throw error;
  return {
    level: 'error',
    code: error.code,
    message: `${label}: ${error.message}`,
    where: digest,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  };
}
