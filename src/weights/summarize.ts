import { type Capabilities, findDtype, type Finding, type Identity, type TensorSpec, toParamSize, type WeightsSummary } from '../core/index.js';
import { findGgufCapabilities, findGgufIdentity, findGgufQuantization } from './gguf-identity.js';
import { checkShards, choosePreferredFormat, dropCopies, groupShards } from './model-copies.js';
import { type ParameterCount } from './parameters.js';
import { present } from './present.js';
import { parseQuantization, type Quantization } from './quantization.js';
import { architectureOf, parseTransformersConfig, type TransformersConfig } from './transformers-config.js';
import type { WeightFile } from './weight-file.js';

/** Parsed JSON documents that lie beside the weights, each absent when there is none. */
export interface WeightConfigs {
  readonly configJson?: unknown;
  /** quantize_config.json or quant_config.json. */
  readonly quantizeConfig?: unknown;
  readonly generationConfig?: unknown;
}

/** What all weight files of a package say together. */
export interface WeightsReport {
  readonly summary: WeightsSummary;
  readonly identity: Partial<Identity>;
  readonly capabilities: Partial<Capabilities>;
  /** Of the one ONNX file, when there is just one. */
  readonly io?: { readonly inputs: readonly TensorSpec[]; readonly outputs: readonly TensorSpec[] };
  readonly findings: readonly Finding[];
}

/**
 * One model out of its weight files. Several formats, or several precisions in one folder, are the same model: one of them is counted,
 * safetensors before GGUF before ONNX. Headers win over configs, and a contradiction is a finding. The findings of the single files are
 * not repeated.
 */
export function summarizeWeights(files: readonly WeightFile[], configs: WeightConfigs): WeightsReport {
  const format = choosePreferredFormat(files);
  const quantization = parseQuantization(configs.configJson, configs.quantizeConfig);
  const sets = groupShards(
    files.filter((file) => file.format === format),
    quantization,
  );
  const { kept, findings } = dropCopies(sets);
  const counted = kept.flatMap((set) => set.files);
  const count = addCounts(kept.map((set) => set.count));
  const config = parseTransformersConfig(configs.configJson, configs.generationConfig);
  const gguf = files.find((file) => file.format === 'gguf')?.metadata;
  const identity = { ...(gguf === undefined ? {} : findGgufIdentity(gguf)), ...(config.family === undefined ? {} : { family: config.family }) };
  const io = findIo(files);
  return {
    summary: summarize(format, counted, count, config, quantization, architectureOf(identity.family, gguf !== undefined)),
    identity,
    capabilities: { ...(gguf === undefined ? {} : findGgufCapabilities(gguf)), ...config.capabilities },
    ...(io === undefined ? {} : { io }),
    findings: [...checkShards(sets), ...findings, ...contradictions(format, count, config, quantization)],
  };
}

function addCounts(counts: readonly ParameterCount[]): ParameterCount {
  const bytesByDtype = new Map<string, number>();
  for (const [dtype, bytes] of counts.flatMap((count) => [...count.bytesByDtype])) bytesByDtype.set(dtype, (bytesByDtype.get(dtype) ?? 0) + bytes);
  const sum = (pick: (count: ParameterCount) => number): number => counts.reduce((total, count) => total + pick(count), 0);
  return { parameters: sum((count) => count.parameters), tensors: sum((count) => count.tensors), bytesByDtype };
}

function summarize(
  format: string | undefined,
  counted: readonly WeightFile[],
  count: ParameterCount,
  config: TransformersConfig,
  quantization: Quantization | undefined,
  ggufArchitecture: string | undefined,
): WeightsSummary {
  const isListed = count.tensors > 0;
  return present<WeightsSummary>({
    format,
    architecture: config.architecture ?? ggufArchitecture,
    parameters: isListed ? count.parameters : undefined,
    paramSize: isListed ? toParamSize(count.parameters) : undefined,
    precision: toPrecision(count) ?? (format === undefined || isListed ? undefined : config.dtype),
    quantization: format === 'gguf' ? findGgufQuantization(counted) : (quantization?.method ?? quantizedDtypes(count)),
    tensors: isListed ? count.tensors : undefined,
  });
}

function dtypesByBytes({ bytesByDtype }: ParameterCount): readonly string[] {
  return [...bytesByDtype].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([dtype]) => dtype);
}

/** Only words that ModelPack knows; the others are told as quantisation. */
function toPrecision(count: ParameterCount): string | undefined {
  return (
    dtypesByBytes(count)
      .flatMap((dtype) => findDtype('name', dtype)?.modelpack ?? [])
      .join(',') || undefined
  );
}

function quantizedDtypes(count: ParameterCount): string | undefined {
  return (
    dtypesByBytes(count)
      .filter((dtype) => isQuantized(dtype))
      .join(',') || undefined
  );
}

function isQuantized(dtype: string): boolean {
  const row = findDtype('name', dtype);
  return row !== undefined && row.modelpack === undefined && row.bits > 0 && row.bits <= 8;
}

/** The headers are right; whoever loads by the config converts without knowing. A quantised model has other dtypes by design. */
function contradictions(
  format: string | undefined,
  count: ParameterCount,
  { dtype }: TransformersConfig,
  quantization: Quantization | undefined,
): readonly Finding[] {
  const words = toPrecision(count);
  if (format !== 'safetensors' || dtype === undefined || words === undefined || quantization !== undefined || words.split(',').includes(dtype))
    return [];
  return [
    {
      level: 'warning',
      code: 'weights/dtype-contradiction',
      message: `config.json says the dtype is ${dtype} and the weight files hold ${words}`,
      where: 'config.json',
      hint: 'The weight files are believed; correct dtype or torch_dtype in config.json',
    },
  ];
}

function findIo(files: readonly WeightFile[]): WeightFile['io'] {
  const named = files.filter((file) => file.io !== undefined);
  return named.length === 1 ? named[0]?.io : undefined;
}
