import type { Digest, Part } from '../core/index.js';
import { completeWeights } from './complete-weights.js';
import type { OpsContext } from './context.js';
import { describeMounts } from './mountable.js';
import { distinct, openPackage } from './package.js';
import type { InspectResult, PartResult } from './results.js';

export interface InspectOptions {
  readonly location: string;
  /** Also every tensor. */
  readonly tensors?: boolean;
  /** Also digests that have to be computed. */
  readonly digest?: boolean;
}

/** What a package is, from headers only: manifest, config, and the first bytes of the weight files. */
export async function inspect(options: InspectOptions, context: OpsContext): Promise<InspectResult> {
  const { pkg, source, known } = await openPackage(options.location, context);
  const completed = known ? await completeWeights(pkg, context) : { pkg, weightFiles: [] };
  const { format, vintage, identity, weights, capabilities, io, run, extra, findings } = completed.pkg;
  return {
    format,
    ...(vintage === undefined ? {} : { vintage }),
    location: options.location,
    ...(source.kind === 'oci' && source.from !== 'place' ? { from: source.from } : {}),
    digest: source.kind === 'oci' ? source.root.digest : null,
    modelHash: null,
    identity,
    weights,
    capabilities,
    parts: pkg.parts.map(toPartResult),
    io,
    run,
    encrypted: false,
    extra,
    findings: distinct(findings),
    ...(options.tensors === true ? { tensors: completed.weightFiles.flatMap((file) => file.tensors) } : {}),
    ...(source.kind === 'oci' && known ? { mountable: describeMounts(pkg) } : {}),
  };
}

export function toPartResult(part: Part): PartResult {
  const digest: Digest | null = part.digest ?? null;
  return { role: part.role, path: part.path, ...(part.mediaType === undefined ? {} : { mediaType: part.mediaType }), size: part.size, digest };
}
