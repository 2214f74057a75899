import { createError, type Example, type LazyTensor, type ModelPackage, type SampleValue, type SelfTest, type TensorSpec } from '../../core/index.js';
import { miscNameOf } from './description-text.js';
import type { PlannedFile } from './member-plan.js';
import { miscPrefix } from './spec.js';
import { TensorTable } from './write-tensors.js';
import type { WrittenSample } from './write-toml.js';

export interface PlannedSamples {
  readonly selfTests: readonly WrittenSample[];
  readonly examples: readonly WrittenSample[];
  /** Below tensor_data/, the index included. */
  readonly members: readonly PlannedFile[];
}

/**
 * Self tests, then examples; in each the inputs, then the outputs, in declared order: that is the order in which tensors are numbered. Loads every
 * tensor once. Throws `carton/cannot-write` for tests of a model that declares no inputs and outputs.
 */
export async function planSamples({ samples, io }: ModelPackage): Promise<PlannedSamples> {
  const { selfTests, examples } = samples ?? { selfTests: [], examples: [] };
  if (selfTests.length + examples.length > 0 && (io.inputs.length === 0 || io.outputs.length === 0)) throw undeclared(selfTests.length > 0);
  const table = new TensorTable();
  const written = { selfTests: [] as WrittenSample[], examples: [] as WrittenSample[] };
  for (const [index, test] of selfTests.entries()) written.selfTests.push(await planSelfTest(test, `self_test[${index}]`, io, table));
  for (const [index, example] of examples.entries()) written.examples.push(await planExample(example, `example[${index}]`, io, table));
  return { ...written, members: table.members() };
}

type Declared = Pick<ModelPackage['io'], 'inputs' | 'outputs'>;

async function planSelfTest(test: SelfTest, where: string, io: Declared, table: TensorTable): Promise<WrittenSample> {
  const { inputs, expected, ...rest } = test;
  const add = (load: LazyTensor, name: string) => table.add(load, `the tensor ${JSON.stringify(name)} of ${where}`);
  const writtenInputs = await mapInOrder(inputs, io.inputs, add);
  return { ...rest, inputs: writtenInputs, ...(expected === undefined ? {} : { outputs: await mapInOrder(expected, io.outputs, add) }) };
}

async function planExample({ inputs, outputs, ...rest }: Example, where: string, io: Declared, table: TensorTable): Promise<WrittenSample> {
  const add = async (value: SampleValue, name: string) =>
    value.kind === 'file' ? miscPrefix + miscNameOf(value.path) : table.add(value.load, `the tensor ${JSON.stringify(name)} of ${where}`);
  return { ...rest, inputs: await mapInOrder(inputs, io.inputs, add), outputs: await mapInOrder(outputs, io.outputs, add) };
}

/** Declared names first, in their order; others keep theirs. */
export async function mapInOrder<T>(
  values: ReadonlyMap<string, T>,
  declared: readonly TensorSpec[],
  map: (value: T, name: string) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  const ranks = new Map(declared.map(({ name }, index) => [name, index]));
  const rankOf = (name: string) => ranks.get(name) ?? declared.length;
  const result = new Map<string, string>();
  for (const [name, value] of [...values].toSorted(([one], [other]) => rankOf(one) - rankOf(other))) result.set(name, await map(value, name));
  return result;
}

function undeclared(areTests: boolean): Error {
  return createError('carton/cannot-write', {
    message: `Cannot write the ${areTests ? 'self tests' : 'examples'} into a carton: the model declares no inputs and outputs`,
    hint: 'Declare them under [[input]] and [[output]] of modelport.toml',
  });
}
