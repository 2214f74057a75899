import { mapConcurrent } from '../bytes/index.js';
import type { Digest, LinkedPart, ModelPackage, Part, TensorInfo } from '../core/index.js';
import { completeWeights, type CompletedPackage } from './complete-weights.js';
import type { OpsContext } from './context.js';
import { digestPart } from './ls.js';
import { openPackage } from './package.js';
import type { DiffEntry, DiffResult } from './results.js';

export interface DiffOptions {
  readonly a: string;
  readonly b: string;
}

/** What differs between two packages, of whatever form: metadata, files by content (renames found), tensors by name, dtype and shape. */
export async function diff(options: DiffOptions, context: OpsContext): Promise<DiffResult> {
  const a = await completeWeights((await openPackage(options.a, context)).pkg, context);
  const b = await completeWeights((await openPackage(options.b, context)).pkg, context);
  const metadata = diffMetadata(a.pkg, b.pkg);
  const files = await diffFiles(listFiles(a.pkg), listFiles(b.pkg), context);
  const tensors = diffTensors(listTensors(a), listTensors(b));
  const equal = [metadata, ...Object.values(files), ...Object.values(tensors)].every((list) => list.length === 0);
  return { equal, metadata, files, tensors };
}

function diffMetadata(a: ModelPackage, b: ModelPackage): DiffEntry[] {
  return (['identity', 'weights', 'capabilities', 'io', 'run'] as const).flatMap((view) => {
    const [left, right] = [a[view], b[view]] as unknown as [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>];
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])];
    return keys
      .filter((key) => !isDerived(view, key) && JSON.stringify(left[key]) !== JSON.stringify(right[key]))
      .map((key) => ({ field: `${view}.${key}`, a: left[key] ?? null, b: right[key] ?? null }));
  });
}

/** Counted from the weight files, which are compared themselves; a config does not hold them. */
function isDerived(view: string, key: string): boolean {
  return view === 'weights' && (key === 'parameters' || key === 'tensors');
}

/** Of a linked file the digest is known and the size is not; it is not fetched. */
type DiffFile = Part | LinkedPart;

function listFiles({ parts, linked = [] }: ModelPackage): readonly DiffFile[] {
  return [...parts, ...linked];
}

async function diffFiles(a: readonly DiffFile[], b: readonly DiffFile[], context: OpsContext): Promise<DiffResult['files']> {
  const [left, right] = [byPath(a), byPath(b)];
  const added = b.filter((part) => !left.has(part.path));
  const removed = a.filter((part) => !right.has(part.path));
  const shared = a.filter((part) => right.has(part.path));
  const differs = await mapConcurrent(shared, context.concurrency, async (part) => !(await isSameContent(part, right.get(part.path) as DiffFile)));
  const renamed: { from: string; to: string }[] = [];
  for (const part of removed) {
    const candidates = added.filter((other) => mayBeSame(part, other) && !renamed.some(({ to }) => to === other.path));
    for (const other of candidates) {
      if (!(await isSameContent(part, other))) continue;
      renamed.push({ from: part.path, to: other.path });
      break;
    }
  }
  const moved = new Set(renamed.flatMap(({ from, to }) => [`-${from}`, `+${to}`]));
  return {
    added: added.map((part) => part.path).filter((path) => !moved.has(`+${path}`)),
    removed: removed.map((part) => part.path).filter((path) => !moved.has(`-${path}`)),
    changed: shared.filter((_, at) => differs[at]).map((part) => part.path),
    renamed,
  };
}

function byPath(parts: readonly DiffFile[]): Map<string, DiffFile> {
  return new Map(parts.map((part) => [part.path, part]));
}

/** Sizes first: most files that differ differ there. */
function mayBeSame(a: DiffFile, b: DiffFile): boolean {
  return !('size' in a) || !('size' in b) || a.size === b.size;
}

async function isSameContent(a: DiffFile, b: DiffFile): Promise<boolean> {
  return mayBeSame(a, b) && (await findDigest(a)) === (await findDigest(b));
}

async function findDigest(file: DiffFile): Promise<Digest> {
  return 'size' in file ? (file.digest ?? digestPart(file)) : file.digest;
}

function listTensors({ weightFiles }: CompletedPackage): readonly TensorInfo[] {
  return weightFiles.flatMap((file) => file.tensors);
}

function diffTensors(a: readonly TensorInfo[], b: readonly TensorInfo[]): DiffResult['tensors'] {
  const [left, right] = [byName(a), byName(b)];
  const changed = [...left].flatMap(([name, tensor]) => {
    const other = right.get(name);
    return other === undefined || spell(tensor) === spell(other) ? [] : [{ name, a: spell(tensor), b: spell(other) }];
  });
  return { added: [...right.keys()].filter((name) => !left.has(name)), removed: [...left.keys()].filter((name) => !right.has(name)), changed };
}

/** One model may lie there in several formats, each with its own tensor of that name. */
function byName(tensors: readonly TensorInfo[]): Map<string, TensorInfo> {
  const names = new Map<string, number>();
  for (const { name } of tensors) names.set(name, (names.get(name) ?? 0) + 1);
  return new Map(tensors.map((tensor) => [(names.get(tensor.name) ?? 0) > 1 ? `${tensor.file}: ${tensor.name}` : tensor.name, tensor]));
}

function spell({ dtype, shape }: TensorInfo): string {
  return `${dtype} [${shape.join(', ')}]`;
}
