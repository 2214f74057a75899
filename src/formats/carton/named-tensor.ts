import type { PackageSource, ReadOptions, Tensor } from '../../core/index.js';
import { readDocuments } from './documents.js';
import { lazyTensor, openTensors } from './samples.js';

/** The tensor that `@tensor_data/NAME` means. Throws `carton/bad-tensor` for one that is not there or not what the index says. */
export async function readNamedTensor(source: PackageSource, name: string, options: ReadOptions): Promise<Tensor> {
  const { files } = openTensors(await readDocuments(source, options));
  return lazyTensor(name, files)();
}
