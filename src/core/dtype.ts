/**
 * The one table of element types: every mapping between formats derives from it. `name` is the spelling of NumPy (and
 * Carton) where NumPy has the type. `bits` of one element; `onnx` is TensorProto.DataType; `npy` the descr without byte order;
 * `inference` the Open Inference Protocol datatype; `modelpack` the precision of ModelPack's config.md.
 */
export interface Dtype {
  readonly name: string;
  readonly bits: number;
  readonly safetensors?: string;
  readonly npy?: string;
  readonly onnx?: number;
  readonly inference?: string;
  readonly modelpack?: string;
}

export const dtypes = [
  { name: 'float64', bits: 64, safetensors: 'F64', npy: 'f8', onnx: 11, inference: 'FP64', modelpack: 'float64' },
  { name: 'float32', bits: 32, safetensors: 'F32', npy: 'f4', onnx: 1, inference: 'FP32', modelpack: 'float32' },
  { name: 'float16', bits: 16, safetensors: 'F16', npy: 'f2', onnx: 10, inference: 'FP16', modelpack: 'float16' },
  { name: 'bfloat16', bits: 16, safetensors: 'BF16', onnx: 16, inference: 'BF16', modelpack: 'bfloat16' },
  { name: 'float8_e4m3', bits: 8, safetensors: 'F8_E4M3', onnx: 17, modelpack: 'float8_e4m3' },
  { name: 'float8_e5m2', bits: 8, safetensors: 'F8_E5M2', onnx: 19, modelpack: 'float8_e5m2' },
  { name: 'float8_e4m3fnuz', bits: 8, safetensors: 'F8_E4M3FNUZ', onnx: 18 },
  { name: 'float8_e5m2fnuz', bits: 8, safetensors: 'F8_E5M2FNUZ', onnx: 20 },
  { name: 'float8_e8m0', bits: 8, safetensors: 'F8_E8M0', onnx: 24 },
  { name: 'float6_e2m3', bits: 6, safetensors: 'F6_E2M3' },
  { name: 'float6_e3m2', bits: 6, safetensors: 'F6_E3M2' },
  { name: 'float4_e2m1', bits: 4, safetensors: 'F4', onnx: 23 },
  { name: 'int64', bits: 64, safetensors: 'I64', npy: 'i8', onnx: 7, inference: 'INT64', modelpack: 'int64' },
  { name: 'int32', bits: 32, safetensors: 'I32', npy: 'i4', onnx: 6, inference: 'INT32', modelpack: 'int32' },
  { name: 'int16', bits: 16, safetensors: 'I16', npy: 'i2', onnx: 5, inference: 'INT16', modelpack: 'int16' },
  { name: 'int8', bits: 8, safetensors: 'I8', npy: 'i1', onnx: 3, inference: 'INT8', modelpack: 'int8' },
  { name: 'int4', bits: 4, onnx: 22 },
  { name: 'int2', bits: 2, onnx: 26 },
  { name: 'uint64', bits: 64, safetensors: 'U64', npy: 'u8', onnx: 13, inference: 'UINT64', modelpack: 'uint64' },
  { name: 'uint32', bits: 32, safetensors: 'U32', npy: 'u4', onnx: 12, inference: 'UINT32', modelpack: 'uint32' },
  { name: 'uint16', bits: 16, safetensors: 'U16', npy: 'u2', onnx: 4, inference: 'UINT16', modelpack: 'uint16' },
  { name: 'uint8', bits: 8, safetensors: 'U8', npy: 'u1', onnx: 2, inference: 'UINT8', modelpack: 'uint8' },
  { name: 'uint4', bits: 4, onnx: 21 },
  { name: 'uint2', bits: 2, onnx: 25 },
  { name: 'bool', bits: 8, safetensors: 'BOOL', npy: 'b1', onnx: 9, inference: 'BOOL', modelpack: 'bool' },
  { name: 'complex64', bits: 64, safetensors: 'C64', npy: 'c8', onnx: 14, modelpack: 'complex64' },
  { name: 'complex128', bits: 128, npy: 'c16', onnx: 15, modelpack: 'complex128' },
  /** Variable length: bits 0. */
  { name: 'string', bits: 0, onnx: 8, inference: 'BYTES' },
] as const satisfies readonly Dtype[];

export type DtypeName = (typeof dtypes)[number]['name'];

const table: readonly Dtype[] = dtypes;

export function findDtype<K extends keyof Dtype>(key: K, value: Dtype[K] & {}): (Dtype & { name: DtypeName }) | undefined {
  return table.find((row) => row[key] === value) as (Dtype & { name: DtypeName }) | undefined;
}
