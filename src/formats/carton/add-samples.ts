import { digestOf } from '../../bytes/index.js';
import { createError, type Finding, type NamedTensors, type TensorSpec } from '../../core/index.js';
import { type TomlTable, type TomlValue, writeToml } from '../../text/index.js';
import { toAnnotations, writeMembers } from './artifact.js';
import type { CartonDocuments, CartonMembers, Document, TomlDocument } from './carton.js';
import { describeCartonToml } from './carton-toml.js';
import { type CopyPlan, planCopy } from './copy-plan.js';
import { dropUnused } from './drop-unused.js';
import { assertPaths, textMember } from './member-plan.js';
import { mapInOrder } from './plan-samples.js';
import { tensorFolder, tensorIndexName, tomlName } from './spec.js';
import { isTable } from './toml-values.js';
import type { CartonCopyOptions, CartonSink, CartonWritten } from './write-options.js';
import { type TakenNames, TensorTable } from './write-tensors.js';
import { toExample, toSelfTest } from './write-toml.js';

export interface AddedSelfTest {
  readonly name?: string;
  readonly description?: string;
  readonly inputs: NamedTensors;
  readonly expected?: NamedTensors;
}

export interface AddedExample {
  readonly name?: string;
  readonly description?: string;
  readonly inputs: NamedTensors;
  readonly outputs: NamedTensors;
}

export interface AddedSamples {
  readonly selfTests?: readonly AddedSelfTest[];
  readonly examples?: readonly AddedExample[];
  /** Of self tests that are there, counted from 0: what shall come out, in place of all that is expected now. */
  readonly expected?: ReadonlyMap<number, NamedTensors>;
}

const rewritten: readonly string[] = [tomlName, tensorIndexName];

/**
 * The same carton with more self tests and examples, or other expectations. All other members that MANIFEST covers stay as they are, each held to it; so do unknown
 * fields of carton.toml, but not its comments. Tensors that only a replaced expectation named are left out. MANIFEST is made anew. Throws
 * `carton/cannot-write`, `bytes/digest-mismatch`, and what reading and the sink throw.
 */
export async function addSamples(
  members: CartonMembers,
  documents: CartonDocuments,
  added: AddedSamples,
  sink: CartonSink,
  options: CartonCopyOptions,
): Promise<CartonWritten> {
  const { manifest: _manifest, listed, ...plan } = await planCopy(members, options.limits);
  const toml = readDocument(documents.toml, tomlName, listed, members);
  if (toml === undefined) throw refuse(members, `it has no ${tomlName}`, tomlName);
  const index = readDocument(documents.tensorIndex, tensorIndexName, listed, members)?.value ?? {};
  const info = describeCartonToml(toml);
  if (info.inputs.length === 0 || info.outputs.length === 0)
    throw refuse(members, 'it declares no inputs and outputs, which self tests need', tomlName);
  const rows = readTables(index, 'tensor', tensorIndexName, members);
  const tensors = new TensorTable(undefined, listTaken(rows, [...plan.members.map(({ path }) => path), ...plan.linked.keys()]));
  const changed = await changeToml(toml.value, added, info, tensors, members);
  const kept = dropUnused(rows, toml.value, changed);
  const isKept = ({ path }: { readonly path: string }) => !rewritten.includes(path) && !kept.files.has(path) && listed.digests.has(path);
  const documentsAnew = [
    textMember(tensorIndexName, writeToml({ ...index, tensor: [...kept.rows, ...tensors.rows] })),
    textMember(tomlName, writeToml(changed)),
  ];
  assertPaths(tensors.files, options.limits);
  const whole = {
    ...plan,
    members: [...plan.members.filter(isKept), ...tensors.files, ...documentsAnew],
    linked: new Map([...plan.linked].filter(([path]) => isKept({ path }))),
    annotations: toAnnotations(info),
  };
  const unlisted = plan.members.map(({ path }) => path).filter((path) => !listed.digests.has(path));
  const findings = [...noteComments(documents), ...noteUnlisted(unlisted)];
  return { ...(await writeMembers(whole, sink, options)), lost: [], findings };
}

/** What is written again has to be what MANIFEST vouched for. */
function readDocument(
  document: Document<TomlDocument>,
  path: string,
  { digests }: CopyPlan['listed'],
  members: CartonMembers,
): TomlDocument | undefined {
  if (document.kind === 'absent') return undefined;
  if (document.kind === 'broken') throw refuse(members, document.finding.message, document.finding.where ?? path);
  const [promised, found] = [digests.get(path), digestOf(Buffer.from(document.text))];
  if (promised === undefined) throw refuse(members, `MANIFEST does not cover ${JSON.stringify(path)}`, path);
  if (promised === found) return document.value;
  throw createError('bytes/digest-mismatch', {
    message: `Cannot change "${members.location}": MANIFEST says ${promised} of ${JSON.stringify(path)}, found ${found}`,
    hint: 'The carton is damaged: fetch or pack it again; `modelport verify` names every file',
    where: path,
  });
}

function readTables(table: TomlTable, key: string, path: string, members: CartonMembers): readonly TomlTable[] {
  const list = table[key] ?? [];
  const tables = Array.isArray(list) ? (list as readonly TomlValue[]).filter(isTable) : undefined;
  if (tables !== undefined && tables.length === (list as readonly TomlValue[]).length) return tables;
  throw refuse(members, `"${key}" in ${path} is no list of tables`, path);
}

function listTaken(rows: readonly TomlTable[], paths: readonly string[]): TakenNames {
  const textsOf = (key: string) => rows.map((row) => row[key]).filter((value) => typeof value === 'string');
  const files = [...paths, ...textsOf('file').map((file) => tensorFolder + file)];
  return { names: lowerCased(textsOf('name')), files: lowerCased(files) };
}

function lowerCased(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.map((text) => text.toLowerCase()));
}

interface Declared {
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
}

async function changeToml(value: TomlTable, added: AddedSamples, io: Declared, tensors: TensorTable, members: CartonMembers): Promise<TomlTable> {
  const write = (values: NamedTensors, specs: readonly TensorSpec[]) =>
    mapInOrder(values, specs, (tensor, name) => tensors.add(async () => tensor, `the tensor ${JSON.stringify(name)}`));
  const selfTests = [...readTables(value, 'self_test', tomlName, members)];
  for (const [at, outputs] of added.expected ?? []) {
    const table = selfTests[at];
    if (table === undefined) throw createError('core/bug', { message: `Cannot happen: there is no self test ${at}` });
    selfTests[at] = { ...table, expected_out: Object.fromEntries(await write(outputs, io.outputs)) };
  }
  for (const { inputs, expected, ...rest } of added.selfTests ?? [])
    selfTests.push(
      toSelfTest({
        ...rest,
        inputs: await write(inputs, io.inputs),
        ...(expected === undefined ? {} : { outputs: await write(expected, io.outputs) }),
      }),
    );
  const examples = [...readTables(value, 'example', tomlName, members)];
  for (const { inputs, outputs, ...rest } of added.examples ?? [])
    examples.push(toExample({ ...rest, inputs: await write(inputs, io.inputs), outputs: await write(outputs, io.outputs) }));
  return {
    ...value,
    ...(selfTests.length === 0 ? {} : { self_test: selfTests }),
    ...(examples.length === 0 ? {} : { example: examples }),
  };
}

/** Texts are passed over: a description may be Markdown. */
const textOrComment = /"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#/g;

function noteComments({ toml }: CartonDocuments): readonly Finding[] {
  const hasComment = toml.kind === 'read' && [...toml.text.matchAll(textOrComment)].some(([found]) => found === '#');
  if (!hasComment) return [];
  return [{ level: 'note', code: 'carton/comments-lost', message: `The comments of ${tomlName} are not in the new carton`, where: tomlName }];
}

function noteUnlisted(paths: readonly string[]): readonly Finding[] {
  return paths.map((path) => ({
    level: 'warning',
    code: 'carton/left-out',
    message: `Left out: ${JSON.stringify(path)} is not covered by MANIFEST, and nobody can vouch for it`,
    where: path,
  }));
}

function refuse({ location }: CartonMembers, reason: string, where: string): Error {
  return createError('carton/cannot-write', {
    message: `Cannot write into "${location}": ${reason}`,
    hint: '`modelport validate` lists all that is wrong',
    where,
  });
}
