import { createError, type Finding, isJsonObject, type Limits, parseJson } from '../core/index.js';
import { badHeader, overLimit, quote } from './bad-header.js';
import { folderOf } from './file-name.js';
import type { WeightFile } from './weight-file.js';

/** What `*.safetensors.index.json` says: which shard holds which tensor. */
export interface SafetensorsIndex {
  readonly file: string;
  /** Tensor name → file name, relative to the folder of the index. */
  readonly shardOf: ReadonlyMap<string, string>;
  /** Distinct, in the order they are first named. */
  readonly shards: readonly string[];
  /** Bytes of all tensors, where the index says it. */
  readonly totalSize?: number;
}

export function isSafetensorsIndex(path: string): boolean {
  return path.endsWith('.safetensors.index.json');
}

/** Text → index. A shard name that leaves the folder, or a map that is none, throws `weights/bad-header`, broken JSON `core/bad-json`. */
export function parseSafetensorsIndex(file: string, bytes: Uint8Array, limits: Limits): SafetensorsIndex {
  const value = parseJson(bytes, file, { bytes: limits.safetensorsHeaderBytes, depth: limits.jsonDepth });
  const map = isJsonObject(value) ? value.weight_map : undefined;
  if (!isJsonObject(value) || !isJsonObject(map)) throw badHeader(file, 0, 'it has no object named weight_map');
  const shardOf = new Map(Object.entries(map).map(([tensor, shard]) => [tensor, assertShardName(file, shard)]));
  const shards = [...new Set(shardOf.values())];
  if (shardOf.size > limits.tensors) throw overLimit(file, 0, `it names ${shardOf.size} tensors and at most ${limits.tensors} are read`);
  if (shards.length > limits.shards) throw overLimit(file, 0, `it names ${shards.length} shards and at most ${limits.shards} are read`);
  const totalSize = isJsonObject(value.metadata) ? value.metadata.total_size : undefined;
  return { file, shardOf, shards, ...(typeof totalSize === 'number' && Number.isSafeInteger(totalSize) ? { totalSize } : {}) };
}

function assertShardName(file: string, shard: unknown): string {
  const isInside =
    typeof shard === 'string' && shard !== '' && !/[\\:\0]|^\//.test(shard) && !shard.split('/').some((part) => /^\.{0,2}$/.test(part));
  if (isInside) return shard;
  throw createError('weights/bad-header', {
    message: `Cannot use the shard ${quote(String(shard))} of "${file}": expected the name of a file beside the index`,
    where: file,
  });
}

/**
 * Compares an index with the shards that were read (`WeightFile.file` is a path with the folder of the index before the shard name):
 * every tensor in exactly the shard that is named for it, no shard missing, none left over, the total size right.
 */
export function checkSafetensorsIndex(index: SafetensorsIndex, files: readonly WeightFile[]): readonly Finding[] {
  const folder = folderOf(index.file);
  const byPath = new Map(files.map((file) => [file.file, file]));
  const named = index.shards.map((shard) => ({ shard, file: byPath.get(folder + shard) }));
  const read = new Map(named.flatMap(({ shard, file }) => (file === undefined ? [] : [[shard, file] as const])));
  return [
    ...named.filter(({ file }) => file === undefined).map(({ shard }) => missingShard(index, shard)),
    ...misplacedTensors(index, read),
    ...unnamedShards(index, folder, files),
    ...wrongTotal(index, read),
  ];
}

function missingShard(index: SafetensorsIndex, shard: string): Finding {
  return {
    level: 'error',
    code: 'weights/missing-file',
    message: `The index names the shard ${quote(shard)}, which is not in the package`,
    where: index.file,
  };
}

/** One finding a shard: a wrong index is wrong for hundreds of tensors at once. */
function misplacedTensors(index: SafetensorsIndex, read: ReadonlyMap<string, WeightFile>): Finding[] {
  const promised = new Map<string, string[]>();
  for (const [tensor, shard] of index.shardOf) {
    const list = promised.get(shard);
    if (list === undefined) promised.set(shard, [tensor]);
    else list.push(tensor);
  }
  return [...read].flatMap(([shard, file]) => {
    const held = new Set(file.tensors.map((tensor) => tensor.name));
    const absent = (promised.get(shard) ?? []).filter((tensor) => !held.has(tensor));
    const unexpected = [...held].filter((tensor) => index.shardOf.get(tensor) !== shard);
    return [
      ...mismatch(index, absent, (what) => `The index places ${what} in ${quote(shard)}, which does not hold it`),
      ...mismatch(index, unexpected, (what) => `${quote(shard)} holds ${what}, which the index does not place there`),
    ];
  });
}

function mismatch(index: SafetensorsIndex, tensors: readonly string[], say: (what: string) => string): Finding[] {
  const [first] = tensors;
  if (first === undefined) return [];
  const others = tensors.length === 1 ? '' : ` and ${tensors.length - 1} more`;
  return [{ level: 'error', code: 'weights/shard-mismatch', message: say(`tensor ${quote(first)}${others}`), where: index.file }];
}

function unnamedShards(index: SafetensorsIndex, folder: string, files: readonly WeightFile[]): Finding[] {
  const named = new Set(index.shards.map((shard) => folder + shard));
  return files
    .filter(
      ({ file }) =>
        /-\d{5}-of-\d{5}\.safetensors$/.test(file) && folderOf(file) === folder && stemOf(file) === stemOf(index.file) && !named.has(file),
    )
    .map(({ file }) => ({
      level: 'warning',
      code: 'weights/shard-mismatch',
      message: `The shard ${quote(file)} is not named by the index`,
      where: index.file,
    }));
}

/** `a/model-00001-of-00002.safetensors` and `a/model.safetensors.index.json` → `a/model`. */
function stemOf(path: string): string {
  return path.replace(/(-\d{5}-of-\d{5})?\.safetensors(\.index\.json)?$/, '');
}

/** Judged only when every shard was read. Writers of old counted tied tensors twice, so this is no error. */
function wrongTotal(index: SafetensorsIndex, read: ReadonlyMap<string, WeightFile>): Finding[] {
  if (index.totalSize === undefined || read.size !== index.shards.length) return [];
  const found = [...read.values()].flatMap((file) => file.tensors).reduce((sum, tensor) => sum + tensor.bytes, 0);
  if (found === index.totalSize) return [];
  return [
    {
      level: 'warning',
      code: 'weights/shard-mismatch',
      message: `The index says total_size ${index.totalSize} and the tensors of its shards have ${found} bytes`,
      where: index.file,
    },
  ];
}
