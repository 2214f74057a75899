import { createError, type Shape, type TensorSpec } from '../../core/index.js';
import { type TomlTable, type TomlValue, writeToml } from '../../text/index.js';
import type { CartonInfo } from './carton.js';
import { type CartonDtype, cartonDtypes, specVersion } from './spec.js';

/** A self test or an example whose values are references already. */
export interface WrittenSample {
  readonly name?: string;
  readonly description?: string;
  readonly inputs: ReadonlyMap<string, string>;
  readonly outputs?: ReadonlyMap<string, string>;
  readonly rtol?: number;
  readonly atol?: number;
}

/** All that a carton.toml says; what is absent is not written. */
export interface CartonFields {
  readonly modelName?: string | undefined;
  readonly shortDescription?: string | undefined;
  readonly modelDescription?: string | undefined;
  readonly license?: string | undefined;
  readonly repository?: string | undefined;
  readonly homepage?: string | undefined;
  readonly requiredPlatforms: readonly string[];
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  readonly selfTests: readonly WrittenSample[];
  readonly examples: readonly WrittenSample[];
  readonly runner: { readonly name: string; readonly requirement: string; readonly compatVersion: number; readonly options: TomlTable };
  /** Tables and fields at the top that version 1 does not know. */
  readonly unknown: TomlTable;
  /** Those inside of tables that it knows: `runner`, `input[0]`, … → the fields. */
  readonly unknownFields?: CartonInfo['unknownFields'] | undefined;
}

/**
 * The text of carton.toml, keys in the order of the specification. An empty list is never written: the format's own library cannot rewrite one
 * that stands beside an array of tables. Throws `carton/cannot-write` for an input or output that a carton cannot declare.
 */
export function writeCartonToml(fields: CartonFields): string {
  const { runner, unknownFields } = fields;
  const withUnknown = (path: string, table: TomlTable): TomlTable => ({ ...table, ...unknownFields?.get(path) });
  const listOf = <T>(key: string, items: readonly T[], toTable: (item: T) => TomlTable) =>
    someOf(items.map((item, index) => withUnknown(`${key}[${index}]`, toTable(item))));
  return writeToml(
    dropAbsent({
      spec_version: BigInt(specVersion),
      model_name: fields.modelName,
      short_description: fields.shortDescription,
      model_description: fields.modelDescription,
      license: fields.license,
      repository: fields.repository,
      homepage: fields.homepage,
      required_platforms: someOf(fields.requiredPlatforms),
      input: listOf('input', fields.inputs, (spec) => toTensor(spec, 'input')),
      output: listOf('output', fields.outputs, (spec) => toTensor(spec, 'output')),
      self_test: listOf('self_test', fields.selfTests, toSelfTest),
      example: listOf('example', fields.examples, toExample),
      runner: dropAbsent({
        runner_name: runner.name,
        required_framework_version: runner.requirement,
        runner_compat_version: BigInt(runner.compatVersion),
        opts: Object.keys(runner.options).length === 0 ? undefined : runner.options,
        ...unknownFields?.get('runner'),
      }),
      ...fields.unknown,
    }),
  );
}

function dropAbsent(table: Readonly<Record<string, TomlValue | undefined>>): TomlTable {
  return Object.fromEntries(Object.entries(table).filter((entry): entry is [string, TomlValue] => entry[1] !== undefined));
}

function someOf<T extends TomlValue>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function toTensor(spec: TensorSpec, kind: 'input' | 'output'): TomlTable {
  const { name, shape = '*', description, internalName } = spec;
  return dropAbsent({ name, dtype: toDtype(spec, kind), shape: toShape(shape), description, internal_name: internalName });
}

function toDtype({ name, dtype }: TensorSpec, kind: 'input' | 'output'): CartonDtype {
  const found = cartonDtypes.find((each) => each === dtype);
  if (found !== undefined) return found;
  throw createError('carton/cannot-write', {
    message: `Cannot write the ${kind} ${JSON.stringify(name)} into a carton: expected one of ${cartonDtypes.join(', ')} as its dtype, found ${dtype ?? 'none'}`,
    hint:
      dtype === undefined
        ? `State its dtype under [[${kind}]]`
        : 'Convert it inside the model, for example with a cast, and declare the type that callers see',
    where: name,
  });
}

function toShape(shape: Shape): TomlValue {
  return typeof shape === 'string' ? shape : shape.map((size) => (size === null ? '*' : typeof size === 'number' ? BigInt(size) : size));
}

export function toSelfTest({ name, description, inputs, outputs, rtol, atol }: WrittenSample): TomlTable {
  const expected = outputs === undefined || outputs.size === 0 ? undefined : Object.fromEntries(outputs);
  return dropAbsent({ name, description, rtol, atol, inputs: Object.fromEntries(inputs), expected_out: expected });
}

/** `sample_out` always: the format's own library refuses the carton without it. */
export function toExample({ name, description, inputs, outputs }: WrittenSample): TomlTable {
  return dropAbsent({ name, description, inputs: Object.fromEntries(inputs), sample_out: Object.fromEntries(outputs ?? []) });
}
