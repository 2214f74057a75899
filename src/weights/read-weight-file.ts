import type { Limits, RandomAccess } from '../core/index.js';
import { readGguf } from './gguf.js';
import { readHead } from './head-access.js';
import { identifyWeights } from './identify.js';
import { readNpy } from './npy.js';
import { readOnnx } from './onnx.js';
import { readPyTorch } from './pytorch.js';
import { readSafetensors } from './safetensors.js';
import type { WeightFile, WeightFormat } from './weight-file.js';

type Reader = (file: string, access: RandomAccess, limits: Limits) => Promise<WeightFile>;

const readers: Partial<Readonly<Record<WeightFormat, Reader>>> = {
  safetensors: readSafetensors,
  gguf: readGguf,
  onnx: readOnnx,
  npy: readNpy,
  pt: readPyTorch,
};

/** Enough for the whole header of nearly every safetensors file, and as much as a window on a remote one brings. */
const headBytes = 80 * 1024;

/**
 * Reads the header of a weight file and nothing of its tensors. Offsets asked of `access` never go back, so a forward-only source serves.
 * A format without a reader gives its word and no tensors; undefined means that the file is of no known format (external data, an index).
 * A header that contradicts itself or the file's size throws `weights/bad-header`, one beyond the limits `bytes/limit`.
 */
export async function readWeightFile(path: string, access: RandomAccess, limits: Limits): Promise<WeightFile | undefined> {
  const head = await readHead(access, headBytes);
  const format = identifyWeights(path, head.first);
  if (format === undefined) return undefined;
  const read = readers[format];
  return read === undefined ? { format, file: path, tensors: [], metadata: {}, findings: [] } : read(path, head, limits);
}
