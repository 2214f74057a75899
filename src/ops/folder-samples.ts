import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { createError, type Description, type LazyTensor, type Samples, type SampleValue, type TensorSpec } from '../core/index.js';
import type { OpsContext } from './context.js';
import { readTensorFile } from './run/input-values.js';

const tensorFile = /\.(npy|json|bin)$/i;

/** The self tests and examples that a build file describes; their tensors are read when they are needed. Paths count from `root`. */
export function readFolderSamples(description: Description, root: string, context: OpsContext): Samples {
  const { inputs, outputs } = description;
  const load =
    (file: string, spec: TensorSpec | undefined): LazyTensor =>
    async () => {
      if (!existsSync(join(root, file))) throw noFile(file);
      return readTensorFile(join(root, file), spec, context);
    };
  const tensors = (files: Readonly<Record<string, string>>, specs: readonly TensorSpec[]) =>
    new Map(Object.entries(files).map(([name, file]) => [name, load(file, find(specs, name))]));
  const values = (files: Readonly<Record<string, string>>, specs: readonly TensorSpec[]) =>
    new Map(
      Object.entries(files).map(([name, file]): [string, SampleValue] => [
        name,
        tensorFile.test(file) ? { kind: 'tensor', load: load(file, find(specs, name)) } : { kind: 'file', path: file },
      ]),
    );
  return {
    selfTests: description.selfTests.map(({ inputs: given, expected, ...test }) => ({
      ...test,
      inputs: tensors(given, inputs),
      ...(expected === undefined ? {} : { expected: tensors(expected, outputs) }),
    })),
    examples: description.examples.map(({ inputs: given, sampleOut, ...example }) => ({
      ...example,
      inputs: values(given, inputs),
      outputs: values(sampleOut, outputs),
    })),
  };
}

function noFile(file: string): Error {
  return createError('buildfile/invalid', {
    message: `Cannot use the tensor "${file}" of a self test or example: there is no such file`,
    hint: 'Write the file, or correct its name in modelport.toml; names count from its folder',
    where: file,
  });
}

/** The files that stand for tensors of self tests and examples, as paths of the folder. */
export function listTestTensors({ selfTests, examples }: Description): ReadonlySet<string> {
  const tests = selfTests.flatMap(({ inputs, expected = {} }) => [...Object.values(inputs), ...Object.values(expected)]);
  const shown = examples.flatMap(({ inputs, sampleOut }) => [...Object.values(inputs), ...Object.values(sampleOut)]);
  return new Set([...tests, ...shown.filter((file) => tensorFile.test(file))].map((file) => posix.normalize(file)));
}

function find(specs: readonly TensorSpec[], name: string): TensorSpec | undefined {
  return specs.find((spec) => spec.name === name);
}
