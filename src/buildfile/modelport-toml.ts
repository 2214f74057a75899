import { type Description, type Finding, isJsonObject, type Limits, type Role } from '../core/index.js';
import {
  invalid,
  judge,
  type KeyPath,
  type Located,
  parseToml,
  parseTypedToml,
  showPath,
  suggest,
  toInvalidError,
  type TomlTable,
  type TomlValue,
} from '../text/index.js';
import { type ModelportToml, modelportToml } from './modelport-toml-schema.js';
import type { ParsedBuildfile } from './parsed-buildfile.js';

/**
 * modelport.toml → description. Throws `buildfile/syntax` for what is not TOML, and `buildfile/invalid` with every unknown key, wrong type and
 * wrong value among its findings, each with line and column. `[format.*]` comes through as it was written, dates as text.
 */
export function parseModelportToml(text: string, file: string, limits: Limits): ParsedBuildfile {
  const document = parseToml(text, file, limits);
  const { output, findings } = judge(modelportToml, document);
  if (findings.length > 0) throw toInvalidError(file, findings);
  const contradictions = [...findRepeatedNames(output, document), ...findUnknownTensors(output, document)];
  if (contradictions.length > 0) throw toInvalidError(file, contradictions);
  return {
    description: toDescription(output, file, writtenOrder(document), readTypedOptions(text, file, limits)),
    findings: [],
    findGlobPlace: (glob) => findGlobPlace(glob, output, document),
  };
}

/** Runners tell 1 from 1.0, so their options keep the types that they were written with: integers are bigint, floats number. */
function readTypedOptions(text: string, file: string, limits: Limits): TomlTable | undefined {
  const run = parseTypedToml(text, file, limits).value['run'];
  const options = isTable(run) ? run['options'] : undefined;
  return isTable(options) ? options : undefined;
}

function isTable(value: TomlValue | undefined): value is TomlTable {
  return isJsonObject(value);
}

function toDescription(file: ModelportToml, origin: string, fileKeys: readonly string[], options: TomlTable | undefined): Description {
  const { created, description, ...identity } = file.package ?? {};
  return {
    origin,
    identity: {
      ...identity,
      ...(typeof description === 'string' ? { description } : {}),
      ...(created === undefined ? {} : { createdAt: created }),
    },
    ...(typeof description === 'object' ? { descriptionFile: description.file } : {}),
    weights: toWeights(file.weights ?? {}),
    capabilities: toCapabilities(file.capabilities ?? {}),
    files: toFileRules(file.files ?? {}, fileKeys),
    inputs: (file.input ?? []).map(toTensor),
    outputs: (file.output ?? []).map(toTensor),
    selfTests: file.self_test ?? [],
    examples: (file.example ?? []).map(toExample),
    run: toRun(file.run ?? {}),
    ...(options === undefined ? {} : { typedOptions: options }),
    format: file.format ?? {},
  };
}

function toWeights({ parameters, ...rest }: NonNullable<ModelportToml['weights']>): Description['weights'] {
  if (parameters === undefined) return rest;
  return typeof parameters === 'number' ? { ...rest, parameters } : { ...rest, paramSize: parameters };
}

function toCapabilities({
  input_types,
  output_types,
  knowledge_cutoff,
  tool_usage,
  ...rest
}: NonNullable<ModelportToml['capabilities']>): Description['capabilities'] {
  return {
    ...rest,
    ...(input_types === undefined ? {} : { inputTypes: input_types }),
    ...(output_types === undefined ? {} : { outputTypes: output_types }),
    ...(knowledge_cutoff === undefined ? {} : { knowledgeCutoff: knowledge_cutoff }),
    ...(tool_usage === undefined ? {} : { toolUsage: tool_usage }),
  };
}

/** The order of the roles is the one they were written in: the first that matches a file wins. */
function toFileRules({ ignore = [], ...globs }: Readonly<Record<string, readonly string[]>>, writtenKeys: readonly string[]): Description['files'] {
  const byRole: Partial<Record<Role, readonly string[]>> = {};
  for (const key of writtenKeys) {
    if (key === 'ignore') continue;
    const role = key === 'misc' ? 'other' : (key as Role);
    byRole[role] = [...(byRole[role] ?? []), ...(globs[key] ?? [])];
  }
  return { byRole, ignore, onlyNamed: false, ...(globs['misc'] === undefined ? {} : { misc: globs['misc'] }) };
}

function toTensor({ internal_name, ...rest }: NonNullable<ModelportToml['input']>[number]): Description['inputs'][number] {
  return internal_name === undefined ? rest : { ...rest, internalName: internal_name };
}

function toExample({ inputs = {}, sample_out = {}, ...rest }: NonNullable<ModelportToml['example']>[number]): Description['examples'][number] {
  return { ...rest, inputs, sampleOut: sample_out };
}

function toRun({ working_directory, resources, ...rest }: NonNullable<ModelportToml['run']>): Description['run'] {
  return {
    ...rest,
    ...(working_directory === undefined ? {} : { workingDirectory: working_directory }),
    ...(resources === undefined ? {} : { resources: toResources(resources) }),
  };
}

function toResources({
  shared_memory,
  gpu_memory,
  ...rest
}: NonNullable<NonNullable<ModelportToml['run']>['resources']>): Readonly<Record<string, unknown>> {
  return {
    ...rest,
    ...(shared_memory === undefined ? {} : { sharedMemory: shared_memory }),
    ...(gpu_memory === undefined ? {} : { gpuMemory: gpu_memory }),
  };
}

function writtenOrder(document: Located): readonly string[] {
  return Object.keys((document.value as { files?: object }).files ?? {});
}

function findGlobPlace(glob: string, file: ModelportToml, document: Located): string | undefined {
  for (const [key, globs] of Object.entries(file.files ?? {})) {
    const index = globs.indexOf(glob);
    if (index >= 0) return document.locate(['files', key, index]);
  }
  return undefined;
}

function findRepeatedNames(file: ModelportToml, document: Located): Finding[] {
  return (['input', 'output'] as const).flatMap((side) => {
    const names = (file[side] ?? []).map((tensor) => tensor.name);
    return names.flatMap((name, index) =>
      names.indexOf(name) === index
        ? []
        : [
            invalid(
              `Cannot use ${showPath([side, index, 'name'])} = "${name}": another ${side} has this name`,
              document.locate([side, index, 'name']),
            ),
          ],
    );
  });
}

/** Where inputs or outputs are declared at all, tests and examples may feed and expect only those. */
function findUnknownTensors(file: ModelportToml, document: Located): Finding[] {
  const declared = { input: (file.input ?? []).map((tensor) => tensor.name), output: (file.output ?? []).map((tensor) => tensor.name) };
  const judgeNames = (side: 'input' | 'output', files: object, ...path: KeyPath): Finding[] => {
    const unknown = declared[side].length === 0 ? [] : Object.keys(files).filter((name) => !declared[side].includes(name));
    return unknown.map((name) => {
      const at = path.concat(name);
      return invalid(`Cannot use ${showPath(at)}: no [[${side}]] is named "${name}"`, document.locate(at), suggest(name, declared[side]));
    });
  };
  const tests = (file.self_test ?? []).flatMap(({ inputs, expected = {} }, index) =>
    judgeNames('input', inputs, 'self_test', index, 'inputs').concat(judgeNames('output', expected, 'self_test', index, 'expected')),
  );
  const examples = (file.example ?? []).flatMap(({ inputs = {}, sample_out = {} }, index) =>
    judgeNames('input', inputs, 'example', index, 'inputs').concat(judgeNames('output', sample_out, 'example', index, 'sample_out')),
  );
  return [...tests, ...examples];
}
