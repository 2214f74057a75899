import type { Description, ExampleDescription, SelfTestDescription, TensorSpec } from '../core/index.js';
import { type TomlTable, writeToml } from '../text/index.js';
import { toByteSize } from './byte-size.js';

/** A line of a table: the key, its value if there is one, and what to show in a comment if there is none. */
type Row = readonly [key: string, value: unknown, example?: string];

/**
 * The text of a modelport.toml that says what the description says (except `origin` and `files.onlyNamed`, which have no key), for a person
 * to go on with: each table with a line about it, what is often wanted and not known as a comment. TOML 1.0 only.
 */
export function writeModelportToml(description: Description): string {
  const sections = [
    '# Describes this model for modelport. Every key is optional: what is left out is read from the files.\n',
    writePackage(description),
    writeWeights(description),
    writeCapabilities(description),
    writeFiles(description),
    ...writeTensors('input', 'The inputs in their order. A size may be a name such as "batch", or "*" for any.', description.inputs),
    ...writeTensors('output', 'The outputs in their order.', description.outputs),
    ...writeSelfTests(description.selfTests),
    ...writeExamples(description.examples),
    ...writeRun(description),
    ...Object.entries(description.format).map(([id, values]) =>
      writeTable(`format.${toKey(id)}`, `Only for the format ${id}.`, Object.entries(values)),
    ),
  ];
  return sections.join('\n');
}

function writePackage({ identity }: Description): string {
  return writeTable('package', 'Who and what the model is.', [
    ['name', identity.name, '"my-model"'],
    ['version', identity.version, '"1.0.0"'],
    ['title', identity.title],
    ['description', identity.description, '"One sentence for people who look for a model"'],
    ['licenses', identity.licenses, '["Apache-2.0"]'],
    ['authors', identity.authors, '["Name <name@example.com>"]'],
    ['vendor', identity.vendor],
    ['family', identity.family],
    ['homepage', identity.homepage],
    ['repository', identity.repository],
    ['documentation', identity.documentation],
    ['datasets', identity.datasets],
    ['revision', identity.revision],
    ['created', identity.createdAt],
  ]);
}

function writeWeights({ weights }: Description): string {
  return writeTable('weights', 'What the weight files are. Their headers are read, so this is needed only where they are silent.', [
    ['architecture', weights.architecture, '"transformer"'],
    ['format', weights.format],
    ['parameters', weights.parameters ?? weights.paramSize],
    ['precision', weights.precision],
    ['quantization', weights.quantization],
  ]);
}

function writeCapabilities({ capabilities }: Description): string {
  return writeTable('capabilities', 'What goes in and comes out: text, image, audio, video, embedding, other.', [
    ['input_types', capabilities.inputTypes, '["text"]'],
    ['output_types', capabilities.outputTypes, '["text"]'],
    ['languages', capabilities.languages],
    ['knowledge_cutoff', capabilities.knowledgeCutoff],
    ['reasoning', capabilities.reasoning],
    ['tool_usage', capabilities.toolUsage],
    ['reward', capabilities.reward],
  ]);
}

function writeFiles({ files }: Description): string {
  const { misc = [] } = files;
  const rows = Object.entries(files.byRole).flatMap(([role, globs]): Row[] => {
    if (role !== 'other' || files.misc === undefined) return [[role, globs]];
    const others = globs.filter((glob) => !misc.includes(glob));
    return [...(others.length === 0 ? [] : [[role, others] as const]), ['misc', misc]];
  });
  const examples: Row[] = rows.length === 0 ? [['weights', undefined, '["*.safetensors"]']] : [];
  const ignore: Row = ['ignore', files.ignore.length === 0 ? undefined : files.ignore, '["checkpoints/**"]'];
  const comment = 'Which file is what; the first that matches wins. Files that are not named here are judged by their names.';
  const onlyNamed = '\n# What this was made from packs only the files that it names: here the others have to be listed under ignore.';
  return writeTable('files', files.onlyNamed ? comment + onlyNamed : comment, [...rows, ...examples, ignore]);
}

function writeTensors(key: 'input' | 'output', comment: string, tensors: readonly TensorSpec[]): string[] {
  if (tensors.length === 0)
    return [`# ${comment}\n# [[${key}]]\n# name = "${key === 'input' ? 'x' : 'y'}"\n# dtype = "float32"\n# shape = ["batch", 10]\n`];
  return writeEach(key, comment, tensors, (tensor) => [
    ['name', tensor.name],
    ['dtype', tensor.dtype],
    ['shape', typeof tensor.shape === 'object' ? tensor.shape.map((size) => size ?? '*') : tensor.shape],
    ['description', tensor.description],
    ['internal_name', tensor.internalName],
  ]);
}

function writeSelfTests(tests: readonly SelfTestDescription[]): string[] {
  return writeEach('self_test', 'Inputs with the outputs that are expected of them; `modelport test` compares.', tests, (test) => [
    ['name', test.name],
    ['description', test.description],
    ['inputs', test.inputs],
    ['expected', test.expected],
    ['rtol', test.rtol],
    ['atol', test.atol],
  ]);
}

function writeExamples(examples: readonly ExampleDescription[]): string[] {
  return writeEach('example', 'Inputs and outputs to show to people.', examples, (example) => [
    ['name', example.name],
    ['description', example.description],
    ['inputs', example.inputs],
    ['sample_out', example.sampleOut],
  ]);
}

/** One `[[key]]` for each item; only the first has the comment. */
function writeEach<Item>(key: string, comment: string, items: readonly Item[], toRows: (item: Item) => readonly Row[]): string[] {
  return items.map((item, index) => `${index === 0 ? `# ${comment}\n` : ''}[[${key}]]\n${writeRows(toRows(item))}`);
}

function writeRun({ run, typedOptions }: Description): string[] {
  const rows: Row[] = [
    ['runtime', run.runtime, '"onnx"'],
    ['version', run.version],
    ['entrypoint', run.entrypoint],
    ['command', run.command],
    ['working_directory', run.workingDirectory],
    ['timeout', run.timeout],
  ];
  return [
    writeTable('run', 'How it is run.', rows),
    ...(run.environment === undefined ? [] : [writeTable('run.environment', 'Environment variables.', Object.entries(run.environment))]),
    ...writeOptions(run.options, typedOptions),
    ...(run.resources === undefined ? [] : [writeResources(run.resources)]),
  ];
}

/** With their types, where they are known. */
function writeOptions(plain: Description['run']['options'], typed: Description['typedOptions']): string[] {
  if (typed !== undefined) return [`# Options of the runtime.\n${writeToml({ run: { options: typed as TomlTable } })}`];
  return plain === undefined ? [] : [writeTable('run.options', 'Options of the runtime.', Object.entries(plain))];
}

function writeResources({ cpu, gpu, memory, sharedMemory, gpuMemory }: Readonly<Record<string, unknown>>): string {
  const size = (bytes: unknown): unknown => (typeof bytes === 'number' ? toByteSize(bytes) : bytes);
  return writeTable('run.resources', 'What it needs.', [
    ['cpu', cpu],
    ['gpu', gpu],
    ['memory', size(memory)],
    ['shared_memory', size(sharedMemory)],
    ['gpu_memory', size(gpuMemory)],
  ]);
}

function writeTable(name: string, comment: string, rows: readonly Row[]): string {
  return `# ${comment}\n[${name}]\n${writeRows(rows)}`;
}

function writeRows(rows: readonly Row[]): string {
  return rows
    .flatMap(([key, value, example]) => {
      if (value !== undefined && value !== null) return [`${toKey(key)} = ${writeValue(value, true)}\n`];
      return example === undefined ? [] : [`# ${key} = ${example}\n`];
    })
    .join('');
}

/** Inside a list or an inline table TOML 1.0 takes no line break, so only a value of its own may be long text over several lines. */
function writeValue(value: unknown, isWhole: boolean): string {
  if (typeof value === 'string') return isWhole && value.includes('\n') ? writeLongText(value) : writeText(value);
  if (typeof value === 'number') return writeNumber(value);
  if (Array.isArray(value))
    return `[${value
      .filter((item) => item !== undefined && item !== null)
      .map((item) => writeValue(item, false))
      .join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const pairs = Object.entries(value).filter(([, item]) => item !== undefined && item !== null);
  return pairs.length === 0 ? '{}' : `{ ${pairs.map(([key, item]) => `${toKey(key)} = ${writeValue(item, false)}`).join(', ')} }`;
}

/** JSON's escapes are TOML's too, but for DEL; a lone surrogate is no text at all. */
function writeText(text: string): string {
  return JSON.stringify(text.replace(/\p{Surrogate}/gu, '\ufffd')).replaceAll('\x7f', '\\u007f');
}

function writeLongText(text: string): string {
  const lines = text.split('\n').map((line) => writeText(line).slice(1, -1));
  return `"""\n${lines.join('\n')}"""`;
}

function writeNumber(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value);
}

function toKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : writeText(key);
}
