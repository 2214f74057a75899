import type { TensorInfo } from '../core/index.js';
import { countElements } from '../tensors/index.js';
import type { Quantization } from './quantization.js';
import type { WeightFile, WeightFormat } from './weight-file.js';

/** Names of tensors that only serve to undo a quantisation: scales, zero points, orders, codebooks. */
const auxiliary =
  /(^|[._])(weight_scale(_2|_inv)?|input_scale|output_scale|k_scale|v_scale|zero_point|weight_zero_point|qzeros|scales|g_idx|weight_g_idx|weight_shape|absmax|quant_map|nested_absmax|nested_quant_map|SCB|weight_format)$|_scales$|\.quant_state\.bitsandbytes__/;
/** Whole numbers that an ONNX graph keeps as initializers are shapes, axes and indices, not weights. */
const onnxConstants = ['int64', 'string', 'bool'];

/** Bits of the containers that hold several quantised values in one element. */
const containerBits: Readonly<Record<string, number>> = { int32: 32, uint8: 8 };

/** What the parameters of a set of files add up to. */
export interface ParameterCount {
  readonly parameters: number;
  readonly tensors: number;
  /** Bytes of the parameters by dtype; packed containers are left out, for their dtype says nothing of the values. */
  readonly bytesByDtype: ReadonlyMap<string, number>;
}

/** Whether a tensor is counted. float8_e8m0 can hold nothing but scales. */
export function isParameter(format: WeightFormat, { name, dtype }: TensorInfo, quantization?: Quantization): boolean {
  if (dtype === 'float8_e8m0') return false;
  if (format === 'onnx') return !onnxConstants.includes(dtype);
  return format !== 'safetensors' || quantization === undefined || !auxiliary.test(name);
}

/** Packed integers count as the values they hold: elements × container bits ÷ bits. GGUF counts values already. */
export function countParameters(files: readonly WeightFile[], quantization?: Quantization): ParameterCount {
  const bytesByDtype = new Map<string, number>();
  let parameters = 0;
  let tensors = 0;
  for (const file of files) {
    const packedBits = file.format === 'safetensors' && (quantization?.bits ?? 8) < 8 ? quantization?.bits : undefined;
    for (const tensor of file.tensors) {
      tensors++;
      if (!isParameter(file.format, tensor, quantization)) continue;
      const container = packedBits === undefined ? undefined : containerBits[tensor.dtype];
      const elements = countElements(tensor.shape) ?? 0;
      parameters += container === undefined || packedBits === undefined ? elements : Math.round((elements * container) / packedBits);
      if (container === undefined && tensor.bytes > 0) bytesByDtype.set(tensor.dtype, (bytesByDtype.get(tensor.dtype) ?? 0) + tensor.bytes);
    }
  }
  return { parameters, tensors, bytesByDtype };
}
