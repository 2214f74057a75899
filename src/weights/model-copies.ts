import type { Finding } from '../core/index.js';
import { findShardName, folderOf } from './file-name.js';
import { countParameters, type ParameterCount } from './parameters.js';
import type { Quantization } from './quantization.js';
import { weightFormats, type WeightFile, type WeightFormat } from './weight-file.js';

/** Files that hold one model together: a single file, or all its shards. */
export interface WeightSet {
  /** Without the numbering of shards. */
  readonly name: string;
  readonly files: readonly WeightFile[];
  readonly count: ParameterCount;
  readonly bytes: number;
}

/** The format that is counted when a package holds several: the first of `weightFormats`, those with listed tensors before the others. */
export function choosePreferredFormat(files: readonly WeightFile[]): WeightFormat | undefined {
  const rank = (file: WeightFile): number => weightFormats.indexOf(file.format) + (file.tensors.length === 0 ? weightFormats.length : 0);
  return files.toSorted((a, b) => rank(a) - rank(b))[0]?.format;
}

export function groupShards(files: readonly WeightFile[], quantization?: Quantization): readonly WeightSet[] {
  const groups = new Map<string, WeightFile[]>();
  for (const file of files) {
    const name = findShardName(file.file)?.stem ?? file.file;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [file]);
    else group.push(file);
  }
  return [...groups].map(([name, group]) => {
    const bytes = group.flatMap((file) => file.tensors).reduce((sum, tensor) => sum + tensor.bytes, 0);
    return { name, files: group, count: countParameters(group, quantization), bytes };
  });
}

/**
 * One set of each model: other precisions of it in the same folder (`model.fp16.safetensors`, the quantisations of a GGUF, Mistral's
 * `consolidated.safetensors`) would count the same parameters again. The largest is kept.
 */
export function dropCopies(sets: readonly WeightSet[]): { kept: readonly WeightSet[]; findings: readonly Finding[] } {
  const kept: WeightSet[] = [];
  const findings: Finding[] = [];
  for (const set of sets.toSorted((a, b) => b.bytes - a.bytes || a.name.length - b.name.length)) {
    const original = kept.find((other) => isCopy(set, other));
    if (original === undefined) kept.push(set);
    else
      findings.push({
        level: 'note',
        code: 'weights/copy',
        message: `"${set.name}" holds the same parameters as "${original.name}" and is not counted`,
        where: set.name,
      });
  }
  return { kept, findings };
}

function isCopy(set: WeightSet, other: WeightSet): boolean {
  if (folderOf(set.name) !== folderOf(other.name) || set.count.parameters === 0 || set.count.parameters !== other.count.parameters) return false;
  return [set.name, other.name].some((name) => /(^|\/)consolidated\b/.test(name)) || hasSameTensors(set, other);
}

function hasSameTensors(set: WeightSet, other: WeightSet): boolean {
  if (set.count.tensors !== other.count.tensors) return false;
  const names = new Set(set.files.flatMap((file) => file.tensors.map((tensor) => tensor.name)));
  return other.files.every((file) => file.tensors.every((tensor) => names.has(tensor.name)));
}

/** Shards that a numbered name or a GGUF's own `split.count` promises and that are not there. */
export function checkShards(sets: readonly WeightSet[]): readonly Finding[] {
  return sets.flatMap(({ name, files }) => {
    const promised = Math.max(...files.map((file) => promisedShards(file)));
    const tensors = files[0]?.metadata['split.tensors.count'];
    const found = files.reduce((sum, file) => sum + file.tensors.length, 0);
    if (promised > files.length)
      return [
        {
          level: 'error',
          code: 'weights/missing-file',
          message: `"${name}" is split in ${promised} files and ${files.length} are in the package`,
          where: name,
        },
      ];
    if (typeof tensors === 'number' && tensors !== found)
      return [
        { level: 'error', code: 'weights/shard-mismatch', message: `"${name}" promises ${tensors} tensors and its files hold ${found}`, where: name },
      ];
    return [];
  });
}

function promisedShards({ file, metadata }: WeightFile): number {
  const split = metadata['split.count'];
  return Math.max(findShardName(file)?.count ?? 1, typeof split === 'number' ? split : 1);
}
