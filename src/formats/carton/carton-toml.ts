import { findDtype, type Shape, type TensorSpec } from '../../core/index.js';
import type { TomlTable, TomlValue } from '../../text/index.js';
import type { CartonExample, CartonInfo, CartonReference, CartonRunner, CartonSelfTest, TomlDocument } from './carton.js';
import { parseReference, writeReference } from './references.js';
import { type CartonDtype, cartonDtypes } from './spec.js';
import { isTable, tableIn, tablesIn, textIn, toSafeInteger } from './toml-values.js';

/** The keys of version 1, with those that the newer text of the format has; rtol and atol are ours. (carton.toml) */
const knownKeys = {
  '': [
    'spec_version',
    'model_name',
    'short_description',
    'model_description',
    'license',
    'repository',
    'homepage',
    'required_platforms',
    'input',
    'output',
    'self_test',
    'example',
    'runner',
  ],
  input: ['name', 'dtype', 'shape', 'description', 'internal_name'],
  output: ['name', 'dtype', 'shape', 'description', 'internal_name'],
  self_test: ['name', 'description', 'inputs', 'expected_out', 'rtol', 'atol'],
  example: ['name', 'description', 'inputs', 'sample_out'],
  runner: ['runner_name', 'required_framework_version', 'runner_compat_version', 'opts'],
} as const;

/**
 * What carton.toml says, as far as it is well-formed; never throws. A text in a self test or an example that is no reference stays as it is and
 * names a tensor that nobody has, so that nothing is silently left out of a test.
 */
export function describeCartonToml({ value }: TomlDocument): CartonInfo {
  const runner = describeRunner(tableIn(value, 'runner'));
  return {
    ...textIn(value, 'model_name', 'modelName'),
    ...textIn(value, 'short_description', 'shortDescription'),
    ...textIn(value, 'model_description', 'modelDescription'),
    ...textIn(value, 'license', 'license'),
    ...textIn(value, 'repository', 'repository'),
    ...textIn(value, 'homepage', 'homepage'),
    requiredPlatforms: listTexts(value['required_platforms']),
    inputs: describeTensors(value, 'input'),
    outputs: describeTensors(value, 'output'),
    selfTests: tablesIn(value, 'self_test').map(describeSelfTest),
    examples: tablesIn(value, 'example').map(describeExample),
    ...(runner === undefined ? {} : { runner }),
    unknown: withoutKnown(value, ''),
    unknownFields: gatherUnknownFields(value),
  };
}

function withoutKnown(table: TomlTable, where: keyof typeof knownKeys): TomlTable {
  const known: readonly string[] = knownKeys[where];
  return Object.fromEntries(Object.entries(table).filter(([key]) => !known.includes(key)));
}

function gatherUnknownFields(value: TomlTable): ReadonlyMap<string, TomlTable> {
  const runner = tableIn(value, 'runner');
  const fields: (readonly [string, TomlTable])[] = runner === undefined ? [] : [['runner', withoutKnown(runner, 'runner')]];
  for (const key of ['input', 'output', 'self_test', 'example'] as const) {
    for (const [index, table] of tablesIn(value, key).entries()) fields.push([`${key}[${index}]`, withoutKnown(table, key)]);
  }
  return new Map(fields.filter(([, table]) => Object.keys(table).length > 0));
}

function listTexts(value: TomlValue | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly TomlValue[]).filter((each) => typeof each === 'string') : [];
}

function describeRunner(table: TomlTable | undefined): CartonRunner | undefined {
  const name = table?.['runner_name'];
  const requiredFrameworkVersion = table?.['required_framework_version'];
  if (table === undefined || typeof name !== 'string' || typeof requiredFrameworkVersion !== 'string') return undefined;
  const compatVersion = toSafeInteger(table['runner_compat_version']);
  const options = tableIn(table, 'opts') ?? {};
  return { name, requiredFrameworkVersion, ...(compatVersion === undefined ? {} : { compatVersion }), options };
}

function describeTensors(value: TomlTable, key: 'input' | 'output'): TensorSpec[] {
  return tablesIn(value, key).flatMap((table) => {
    const name = table['name'];
    if (typeof name !== 'string') return [];
    const dtype = toCartonDtype(table['dtype']);
    const shape = parseShape(table['shape']);
    return [
      {
        name,
        ...(dtype === undefined ? {} : { dtype }),
        ...(shape === undefined ? {} : { shape }),
        ...textIn(table, 'description', 'description'),
        ...textIn(table, 'internal_name', 'internalName'),
      },
    ];
  });
}

/** Undefined for a word that is none of the eleven. */
export function toCartonDtype(value: TomlValue | undefined): CartonDtype | undefined {
  const name = typeof value === 'string' ? findDtype('name', value)?.name : undefined;
  return cartonDtypes.find((each) => each === name);
}

/** A shape as carton.toml spells it; undefined when it is malformed. `*` is any rank, in a list any size. */
export function parseShape(value: TomlValue | undefined): Shape | undefined {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return undefined;
  const sizes = (value as readonly TomlValue[]).map((size) => (size === '*' ? null : typeof size === 'string' ? size : toSafeInteger(size)));
  return sizes.every((size) => size !== undefined) ? sizes : undefined;
}

function describeSelfTest(table: TomlTable): CartonSelfTest {
  const { rtol, atol } = table;
  const expected = tableIn(table, 'expected_out');
  return {
    ...textIn(table, 'name', 'name'),
    ...textIn(table, 'description', 'description'),
    inputs: mapTable(tableIn(table, 'inputs'), toTensorName),
    ...(expected === undefined ? {} : { expected: mapTable(expected, toTensorName) }),
    ...toTolerance('rtol', rtol),
    ...toTolerance('atol', atol),
  };
}

function describeExample(table: TomlTable): CartonExample {
  return {
    ...textIn(table, 'name', 'name'),
    ...textIn(table, 'description', 'description'),
    inputs: mapTable(tableIn(table, 'inputs'), toReference),
    outputs: mapTable(tableIn(table, 'sample_out'), toReference),
  };
}

function mapTable<T>(table: TomlTable | undefined, map: (value: TomlValue) => T): ReadonlyMap<string, T> {
  return new Map(Object.entries(table ?? {}).map(([key, value]) => [key, map(value)]));
}

function toReference(value: TomlValue): CartonReference {
  if (typeof value !== 'string') return { kind: 'tensor', name: describe(value) };
  return parseReference(value) ?? { kind: 'tensor', name: value };
}

function toTensorName(value: TomlValue): string {
  const reference = toReference(value);
  return reference.kind === 'tensor' ? reference.name : writeReference(reference);
}

/** For the message that no tensor is called so. */
function describe(value: TomlValue): string {
  if (typeof value !== 'object') return String(value);
  return isTable(value) ? 'a table' : Array.isArray(value) ? 'a list' : 'a date';
}

function toTolerance<K extends 'rtol' | 'atol'>(key: K, value: TomlValue | undefined): { readonly [key in K]?: number } {
  const tolerance = typeof value === 'bigint' ? Number(value) : value;
  const isTolerance = typeof tolerance === 'number' && Number.isFinite(tolerance) && tolerance >= 0;
  return (isTolerance ? { [key]: tolerance } : {}) as { readonly [key in K]?: number };
}
