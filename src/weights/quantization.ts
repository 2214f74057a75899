import { isJsonObject, type JsonObject } from '../core/index.js';

/** What the config files say of the quantisation. */
export interface Quantization {
  /** `gptq`, `awq`, `bitsandbytes`, `fp8`, `mxfp4`, `compressed-tensors`, … */
  readonly method: string;
  /** Of one packed element; undefined when it is not said. */
  readonly bits?: number;
}

/**
 * `quantization_config` of config.json, else quantize_config.json (AutoGPTQ) or quant_config.json (AutoAWQ); undefined when neither says
 * anything that can be understood.
 */
export function parseQuantization(configJson: unknown, quantizeConfig: unknown): Quantization | undefined {
  const inConfig = isJsonObject(configJson) ? configJson.quantization_config : undefined;
  const said = isJsonObject(inConfig) ? inConfig : quantizeConfig;
  if (!isJsonObject(said)) return undefined;
  const method = findMethod(said);
  if (method === undefined) return undefined;
  const bits = findBits(said, method);
  return bits === undefined ? { method } : { method, bits };
}

function findMethod(said: JsonObject): string | undefined {
  if (typeof said.quant_method === 'string' && said.quant_method !== '') return said.quant_method.toLowerCase();
  if (said.load_in_4bit === true || said.load_in_8bit === true) return 'bitsandbytes';
  if ('w_bit' in said || 'q_group_size' in said) return 'awq';
  return 'desc_act' in said || 'group_size' in said ? 'gptq' : undefined;
}

function findBits(said: JsonObject, method: string): number | undefined {
  const candidates = [said.bits, said.w_bit, said.num_bits, bitsOfGroups(said.config_groups)];
  const bits = candidates.find((value) => typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 32);
  if (typeof bits === 'number') return bits;
  if (said.load_in_4bit === true || method === 'mxfp4' || method === 'nvfp4') return 4;
  if (said.load_in_8bit === true || method === 'fp8') return 8;
  return undefined;
}

/** compressed-tensors: every group has its own; packing is told by the first that has any. */
function bitsOfGroups(groups: unknown): unknown {
  if (!isJsonObject(groups)) return undefined;
  const weights = Object.values(groups).map((group) => (isJsonObject(group) ? group.weights : undefined));
  return weights.find(isJsonObject)?.num_bits;
}
