import { type Finding, hasErrors, type ModelPackage } from '../core/index.js';
import { summarizeWeights, type WeightFile } from '../weights/index.js';
import type { OpsContext } from './context.js';
import { readWeightConfigs, readWeights } from './read-weights.js';

/** A package whose weights and interface are known as far as the headers of its weight files say them. */
export interface CompletedPackage {
  readonly pkg: ModelPackage;
  readonly weightFiles: readonly WeightFile[];
}

/** What the config does not say, the weight files do; where both speak and differ, that is a finding. */
export async function completeWeights(pkg: ModelPackage, context: OpsContext): Promise<CompletedPackage> {
  const { files, findings } = await readWeights(pkg.parts, context);
  const { configs, findings: configFindings } = await readWeightConfigs(pkg.parts, context);
  const found = summarizeWeights(files, configs);
  const isDeclared = pkg.io.inputs.length + pkg.io.outputs.length > 0;
  const contradictions = pkg.format === 'folder' || hasErrors(findings) ? [] : contradictionsOf(pkg, found.summary);
  return {
    pkg: {
      ...pkg,
      weights: { ...found.summary, ...pkg.weights },
      io: isDeclared ? pkg.io : { ...pkg.io, ...found.io },
      findings: [...pkg.findings, ...findings, ...configFindings, ...contradictions],
    },
    weightFiles: files,
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
