import type { Finding } from '../core/index.js';
import { quote } from './bad-header.js';
import { folderOf } from './file-name.js';
import type { WeightFile } from './weight-file.js';

/**
 * Compares what an ONNX file keeps elsewhere with the files of the package. `findSize` gives the size of a path of the package, or
 * undefined when there is none. Unsafe locations were found while reading.
 */
export function checkExternalData(file: WeightFile, findSize: (path: string) => number | undefined): readonly Finding[] {
  const needed = new Map<string, number>();
  for (const { location, offset = 0, length = 0 } of file.external ?? []) {
    needed.set(location, Math.max(needed.get(location) ?? 0, offset + length));
  }
  return [...needed].flatMap(([location, bytes]) => judge(file.file, location, bytes, findSize(folderOf(file.file) + location)));
}

function judge(where: string, location: string, needed: number, size: number | undefined): Finding[] {
  if (size === undefined) {
    return [
      { level: 'error', code: 'weights/missing-file', message: `The model keeps tensors in ${quote(location)}, which is not in the package`, where },
    ];
  }
  if (needed <= size) return [];
  return [{ level: 'error', code: 'weights/wrong-size', message: `The model needs ${needed} bytes of ${quote(location)}, which has ${size}`, where }];
}
