import type { Finding, TensorInfo, TensorSpec } from '../core/index.js';

/** Preferred first: when a package holds the same model in several formats, the first of these is the one that is counted. */
export const weightFormats = [
  'safetensors',
  'gguf',
  'onnx',
  'pt',
  'npz',
  'npy',
  'h5',
  'keras',
  'tflite',
  'pb',
  'ckpt',
  'joblib',
  'pkl',
  'engine',
  'mlmodel',
] as const;

/** The word for a weight format, as WeightsSummary.format and ModelPack's `config.format` spell it. */
export type WeightFormat = (typeof weightFormats)[number];

/** Bytes of a tensor that an ONNX file keeps elsewhere. `location` is relative to the ONNX file; offset and length count bytes. */
export interface ExternalData {
  readonly tensor: string;
  readonly location: string;
  readonly offset?: number;
  readonly length?: number;
}

/** What one weight file says about itself. */
export interface WeightFile {
  readonly format: WeightFormat;
  /** The path it was read as. */
  readonly file: string;
  /** Empty for a format whose tensors are not listed in a header. */
  readonly tensors: readonly TensorInfo[];
  /** Stored elements of all tensors, before any correction for quantisation; absent when the header lists none. */
  readonly parameters?: number;
  /** The file's own words; large arrays stand as `{ elements, of }`. Safe to write as JSON. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Only where the file names its inputs and outputs (ONNX). */
  readonly io?: { readonly inputs: readonly TensorSpec[]; readonly outputs: readonly TensorSpec[] };
  readonly external?: readonly ExternalData[];
  readonly findings: readonly Finding[];
}
