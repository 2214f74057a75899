import { type Digest, type Finding, hasErrors, type ModelPackage, type Part, type TensorInfo } from '../core/index.js';
import { summarizeWeights, type WeightFile } from '../weights/index.js';
import type { OpsContext } from './context.js';
import { describeMounts } from './mountable.js';
import { distinct, openPackage } from './package.js';
import { readWeightConfigs, readWeights } from './read-weights.js';
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
  const weights = known ? await completeWeights(pkg, context) : { pkg, files: [] };
  const tensors = weights.files.flatMap((file) => file.tensors);
  const { format, vintage, identity, capabilities, io, run, extra } = weights.pkg;
  return {
    format,
    ...(vintage === undefined ? {} : { vintage }),
    location: options.location,
    ...(source.kind === 'oci' && source.fromStore ? { from: 'store' as const } : {}),
    digest: source.kind === 'oci' ? source.root.digest : null,
    modelHash: null,
    identity,
    weights: weights.pkg.weights,
    capabilities,
    parts: pkg.parts.map(toPartResult),
    io,
    run,
    encrypted: false,
    extra,
    findings: distinct(weights.pkg.findings),
    ...(options.tensors === true ? { tensors: tensors satisfies readonly TensorInfo[] } : {}),
    ...(source.kind === 'oci' && known ? { mountable: describeMounts(pkg) } : {}),
  };
}

export function toPartResult(part: Part): PartResult {
  const digest: Digest | null = part.digest ?? null;
  return { role: part.role, path: part.path, ...(part.mediaType === undefined ? {} : { mediaType: part.mediaType }), size: part.size, digest };
}

/** What the config does not say, the weight files do; a folder has been read already. */
async function completeWeights(pkg: ModelPackage, context: OpsContext): Promise<{ pkg: ModelPackage; files: readonly WeightFile[] }> {
  const { files, findings } = await readWeights(pkg.parts, context);
  const { configs } = await readWeightConfigs(pkg.parts, context);
  const found = summarizeWeights(files, configs);
  const contradictions = pkg.format === 'folder' ? [] : contradictionsOf(pkg, found.summary);
  return {
    pkg: {
      ...pkg,
      weights: { ...found.summary, ...pkg.weights },
      io: pkg.io.inputs.length + pkg.io.outputs.length > 0 ? pkg.io : { ...pkg.io, ...found.io },
      findings: [...pkg.findings, ...findings, ...(hasErrors(findings) ? [] : contradictions)],
    },
    files,
  };
}

/** A config that tells another story than the bytes. */
function contradictionsOf(pkg: ModelPackage, found: ModelPackage['weights']): Finding[] {
  return (['format', 'precision', 'paramSize'] as const)
    .filter((key) => pkg.weights[key] !== undefined && found[key] !== undefined && pkg.weights[key].toLowerCase() !== found[key].toLowerCase())
    .map((key) => ({
      level: 'warning',
      code: 'weights/contradiction',
      message: `The config says ${key} ${pkg.weights[key]}, the weight files say ${found[key]}`,
      where: `config.${key}`,
      hint: `Correct it with \`modelport edit --set weights.${key}=${found[key]}\``,
    }));
}
