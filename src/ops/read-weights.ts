import { accessPart, collect, mapConcurrent, openPart } from '../bytes/index.js';
import { type Finding, isToolkitError, type Part, parseJson, type ToolkitError } from '../core/index.js';
import {
  checkSafetensorsIndex,
  isSafetensorsIndex,
  parseSafetensorsIndex,
  readWeightFile,
  type WeightConfigs,
  type WeightFile,
} from '../weights/index.js';
import type { OpsContext } from './context.js';

/** What the weight files among the parts say of themselves; a malformed header is a finding. Reads headers only. */
export async function readWeights(parts: readonly Part[], context: OpsContext): Promise<{ files: WeightFile[]; findings: Finding[] }> {
  const findings: Finding[] = [];
  const candidates = parts.filter((part) => part.role === 'weights' && !isClosedArchive(part));
  const read = await mapConcurrent(candidates, context.concurrency, async (part) => {
    const access = accessPart(part.content, part.size);
    try {
      return await readWeightFile(part.path, access, context.limits);
    } catch (error) {
      if (!isToolkitError(error)) throw error;
      findings.push(toFinding(error, part));
      return undefined;
    } finally {
      await access.close();
    }
  });
  const files = read.filter((file) => file !== undefined);
  return { files, findings: [...findings, ...files.flatMap((file) => file.findings)] };
}

/** A layer that could not be looked into stands in for its files: its bytes are those of an archive. */
function isClosedArchive({ content, mediaType = '' }: Part): boolean {
  return content.kind === 'blob' && /[.+](tar|gzip|zstd)$/.test(mediaType);
}

function toFinding(error: ToolkitError, part: Part): Finding {
  return {
    level: 'error',
    code: error.code,
    message: error.message,
    where: error.where ?? part.path,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  };
}

/** Holds every index of sharded safetensors against the shards: each tensor in the one file that the index names. */
export async function checkShardIndexes(parts: readonly Part[], files: readonly WeightFile[], context: OpsContext): Promise<Finding[]> {
  const { limits } = context;
  const found = await mapConcurrent(
    parts.filter((part) => isSafetensorsIndex(part.path)),
    context.concurrency,
    async (part) => {
      try {
        const bytes = await collect(await openPart(part.content), limits.safetensorsHeaderBytes, part.path);
        return checkSafetensorsIndex(parseSafetensorsIndex(part.path, bytes, limits), files);
      } catch (error) {
        if (!isToolkitError(error)) throw error;
        return [toFinding(error, part)];
      }
    },
  );
  return found.flat();
}

const configFiles = [
  ['config.json', 'configJson'],
  ['quantize_config.json', 'quantizeConfig'],
  ['quant_config.json', 'quantizeConfig'],
  ['generation_config.json', 'generationConfig'],
] as const satisfies readonly (readonly [string, keyof WeightConfigs])[];

/** The configs beside the weights; one that is not JSON is a finding. */
export async function readWeightConfigs(parts: readonly Part[], context: OpsContext): Promise<{ configs: WeightConfigs; findings: Finding[] }> {
  const findings: Finding[] = [];
  const configs: Partial<Record<keyof WeightConfigs, unknown>> = {};
  for (const [path, key] of configFiles) {
    const part = configs[key] === undefined ? parts.find((each) => each.path === path) : undefined;
    if (part === undefined) continue;
    try {
      configs[key] = parseJson(await collect(await openPart(part.content), context.limits.configBytes, path), path, {
        bytes: context.limits.configBytes,
      });
    } catch (error) {
      if (!isToolkitError(error)) throw error;
      findings.push({ level: 'warning', code: error.code, message: error.message, where: error.where ?? path });
    }
  }
  return { configs, findings };
}
