import { createError, type NamedTensors, type Tensor } from '../../core/index.js';
import { isNpyWritable, writeNpy, writeTensorText } from '../../tensors/index.js';
import { toFileNames } from './file-names.js';

export interface TensorFile {
  readonly name: string;
  /** `NAME.npy` or `NAME.json`; no two of a list are one where case is ignored. */
  readonly file: string;
  readonly bytes: Uint8Array;
}

/** Each tensor as a file of its own. */
export function toTensorFiles(tensors: NamedTensors): TensorFile[] {
  const names = toFileNames([...tensors.keys()]);
  return [...tensors].map(([name, tensor]) => {
    const { extension, bytes } = encodeTensorFile(tensor);
    return { name, file: `${names.get(name)}.${extension}`, bytes };
  });
}

/** NumPy's own form, or JSON for what NumPy has no portable file for: text, ragged tensors, bfloat16. */
export function encodeTensorFile(tensor: Tensor): { readonly extension: 'npy' | 'json'; readonly bytes: Uint8Array } {
  return isNpyWritable(tensor) ? { extension: 'npy', bytes: writeNpy(tensor) } : { extension: 'json', bytes: Buffer.from(writeTensorText(tensor)) };
}

/** In the form that a file has by its name. Throws `ops/refused` for a tensor that this form cannot hold. */
export function encodeAs(path: string, tensor: Tensor): Uint8Array {
  const name = path.toLowerCase();
  if (name.endsWith('.json')) return Buffer.from(writeTensorText(tensor));
  if (name.endsWith('.npy') && isNpyWritable(tensor)) return writeNpy(tensor);
  if (name.endsWith('.bin') && tensor.kind === 'numeric') return tensor.bytes;
  throw createError('ops/refused', {
    message: `Cannot write "${path}" anew: a file of this kind cannot hold what the model gives now`,
    hint: 'Name a .json file for it in modelport.toml',
    where: path,
  });
}
