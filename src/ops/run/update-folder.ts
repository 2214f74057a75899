import { mkdirSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { replaceFile } from '../../bytes/index.js';
import { createError, type NamedTensors } from '../../core/index.js';
import type { OpsContext } from '../context.js';
import type { FolderSource } from '../folder.js';
import { changeBuildfile, type SampleFiles } from './record-buildfile.js';
import { NewFiles } from './record-folder.js';
import { encodeAs, toTensorFiles } from './tensor-files.js';

/** `index` counts the self tests of the build file from 0. */
export interface NewExpectation {
  readonly index: number;
  readonly name: string;
  readonly tensors: NamedTensors;
}

/**
 * Prepares the files of expectations anew, in the form that they have; the function that comes back writes them, each as a whole. Throws
 * `ops/refused` when one cannot hold the tensor, or when something else in the build file names it too.
 */
export function replaceExpectations({ tree, buildfile }: FolderSource, expectations: readonly NewExpectation[]): () => readonly string[] {
  const tests = buildfile?.description.selfTests ?? [];
  const uses = countUses(buildfile?.description);
  const writes = expectations.flatMap(({ index, tensors }) => {
    const files = tests[index]?.expected ?? {};
    return [...tensors].flatMap(([name, tensor]) => {
      const file = files[name];
      if (file === undefined) throw createError('core/bug', { message: `Cannot happen: the self test ${index} expects no "${name}"` });
      if ((uses.get(posix.normalize(file)) ?? 0) > 1) throw shared(file);
      return [{ file, bytes: encodeAs(file, tensor) }];
    });
  });
  return () =>
    writes.map(({ file, bytes }) => {
      const path = join(tree.root, file);
      mkdirSync(dirname(path), { recursive: true });
      replaceFile(path, bytes);
      return file;
    });
}

function countUses(description: NonNullable<FolderSource['buildfile']>['description'] | undefined): ReadonlyMap<string, number> {
  const { selfTests = [], examples = [] } = description ?? {};
  const tables: SampleFiles[] = [
    ...selfTests.flatMap(({ inputs, expected = {} }) => [inputs, expected]),
    ...examples.flatMap(({ inputs, sampleOut }) => [inputs, sampleOut]),
  ];
  const uses = new Map<string, number>();
  for (const path of tables.flatMap((table) => Object.values(table)).map((file) => posix.normalize(file))) uses.set(path, (uses.get(path) ?? 0) + 1);
  return uses;
}

function shared(file: string): Error {
  return createError('ops/refused', {
    message: `Cannot write "${file}" anew: another input or output of the tests and examples is the same file`,
    hint: 'Give the expectation a file of its own',
    where: file,
  });
}

/** New files for tests that expect nothing yet, and their names in the build file. */
export async function addExpectations(
  source: FolderSource,
  expectations: readonly NewExpectation[],
  { limits }: OpsContext,
): Promise<{ readonly path: string; readonly files: readonly string[] }> {
  const { root } = source.tree;
  if (expectations.length === 0) return { path: join(root, 'modelport.toml'), files: [] };
  const made: NewFiles[] = [];
  try {
    const files = new Map<number, SampleFiles>();
    for (const { index, name, tensors } of expectations) {
      const folder = new NewFiles(root, 'tests', name);
      made.push(folder);
      files.set(index, folder.write('expected', toTensorFiles(tensors)));
    }
    return { path: await changeBuildfile(source, { kind: 'expected', files }, limits), files: made.flatMap(({ paths }) => paths) };
  } catch (error) {
    for (const folder of made) folder.drop();
    throw error;
  }
}
