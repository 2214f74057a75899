import { digestOf } from '../../bytes/index.js';
import {
  createError,
  type Digest,
  type Finding,
  type Identity,
  type LinkedPart,
  type ModelPackage,
  type PackageSource,
  type Part,
  type ReadOptions,
  type Run,
} from '../../core/index.js';
import type { CartonDocuments, CartonInfo, CartonMembers, CartonRunner, Document, TomlDocument } from './carton.js';
import { describeCartonToml } from './carton-toml.js';
import { gatherDocuments, readCartonToml } from './documents.js';
import { type Inventory, type PresentMember, takeInventory } from './inventory.js';
import { listTwins } from './list-twins.js';
import { contentOf, openMembers } from './open-members.js';
import { roleOf } from './roles.js';
import { readSamples } from './samples.js';
import { specVersion, tensorIndexName, tomlName } from './spec.js';
import { toPlainTable } from './toml-values.js';

/**
 * A carton → package. Reads its documents and nothing else. What is odd becomes a finding. Throws `carton/unreadable` without a carton.toml that is TOML,
 * for another spec_version and without a runner, and what disk and network throw.
 */
export async function read(source: PackageSource, options: ReadOptions): Promise<ModelPackage> {
  const documents = await gatherDocuments(await openMembers(source, options), options);
  const { info, runner } = parseInfo(documents.toml, source.location);
  const inventory = takeInventory(documents);
  const { samples, findings } = readSamples(info, documents);
  const parts = inventory.present.map((member) => toPart(member, documents.members));
  const linked = inventory.linked.map((member): LinkedPart => ({ role: roleOf(member.path).role, ...member }));
  return {
    format: 'carton',
    vintage: 'v1',
    identity: toIdentity(info),
    weights: {},
    capabilities: {},
    parts,
    ...(linked.length === 0 ? {} : { linked }),
    io: { inputs: info.inputs, outputs: info.outputs, selfTests: info.selfTests.length, examples: info.examples.length },
    samples,
    run: toRun(runner),
    ...(Object.keys(runner.options).length === 0 ? {} : { typedOptions: runner.options }),
    ...(documents.manifest.kind === 'read' ? { modelHash: documents.manifest.value.modelHash } : {}),
    extra: toExtra(info, runner, inventory),
    findings: [...inventory.findings, ...listWrongDocuments(documents), ...findings, ...listTwins([...parts, ...linked])],
  };
}

/** Of a carton, from carton.toml alone. */
export async function readSummary(source: PackageSource, options: ReadOptions): Promise<Pick<ModelPackage, 'identity' | 'weights'>> {
  const toml = await readCartonToml(await openMembers(source, options), options.limits);
  return { identity: toIdentity(parseInfo(toml, source.location).info), weights: {} };
}

/** What carton.toml says. Throws `carton/unreadable` when that is not enough for a carton. */
function parseInfo(toml: Document<TomlDocument>, location: string): { readonly info: CartonInfo; readonly runner: CartonRunner } {
  if (toml.kind === 'absent') throw unreadable(location, `it holds no ${tomlName}`, tomlName);
  if (toml.kind === 'broken') throw unreadable(location, toml.finding.message, toml.finding.where ?? tomlName, toml.finding);
  const document = toml.value;
  const found = document.value['spec_version'];
  if (found !== BigInt(specVersion))
    throw unreadable(
      location,
      `expected spec_version = ${specVersion}, found ${found === undefined ? 'none' : show(found)}`,
      document.locate(['spec_version']),
    );
  const info = describeCartonToml(document);
  if (info.runner === undefined)
    throw unreadable(location, 'expected [runner] with the texts runner_name and required_framework_version', document.locate(['runner']));
  return { info, runner: info.runner };
}

/** Of an integer its digits, of a float a point too. */
function show(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return Number.isInteger(value) ? value.toFixed(1) : String(value);
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : 'no number';
}

function unreadable(location: string, reason: string, where: string, finding?: Finding): Error {
  return createError('carton/unreadable', {
    message: `Cannot read "${location}" as a carton: ${reason}`,
    hint: finding?.hint ?? '`modelport validate` says all that is wrong with it',
    where,
    findings: finding === undefined ? undefined : [finding],
  });
}

function toIdentity(info: CartonInfo): Identity {
  const description = info.modelDescription ?? info.shortDescription;
  return {
    ...(info.modelName === undefined ? {} : { name: info.modelName }),
    ...(description === undefined ? {} : { description }),
    ...(info.license === undefined ? {} : { licenses: [info.license] }),
    ...(info.repository === undefined ? {} : { repository: info.repository }),
    ...(info.homepage === undefined ? {} : { homepage: info.homepage }),
  };
}

function toRun(runner: CartonRunner): Run {
  const options = toPlainTable(runner.options);
  const { entrypoint_package: module, entrypoint_fn: name } = options;
  const hasEntrypoint = runner.name === 'python' && typeof module === 'string' && typeof name === 'string';
  return {
    runtime: runner.name,
    version: runner.requiredFrameworkVersion,
    ...(hasEntrypoint ? { entrypoint: `${module}:${name}` } : {}),
    ...(Object.keys(options).length === 0 ? {} : { options }),
  };
}

/** What was read is what the model hash stands for. All other files are held to their hashes when they are read. */
function listWrongDocuments({ toml, tensorIndex, manifest }: CartonDocuments): Finding[] {
  const promised = manifest.kind === 'read' ? manifest.value.digests : new Map<string, Digest>();
  const judge = (path: string, document: Document<unknown>): Finding[] => {
    const expected = promised.get(path);
    const found = document.kind === 'read' && expected !== undefined ? digestOf(Buffer.from(document.text)) : expected;
    if (found === expected) return [];
    const message = `Cannot trust ${JSON.stringify(path)}: MANIFEST says ${expected}, found ${found}`;
    return [
      { level: 'error', code: 'carton/wrong-hash', message, where: path, hint: 'The carton is damaged or was changed: fetch or pack it again' },
    ];
  };
  return [...judge(tomlName, toml), ...judge(tensorIndexName, tensorIndex)];
}

function toExtra(info: CartonInfo, runner: CartonRunner, { links }: Inventory): ModelPackage['extra'] {
  return {
    specVersion,
    ...(info.shortDescription === undefined ? {} : { shortDescription: info.shortDescription }),
    ...(info.modelDescription === undefined ? {} : { modelDescription: info.modelDescription }),
    requiredPlatforms: info.requiredPlatforms,
    ...(runner.compatVersion === undefined ? {} : { runnerCompatVersion: runner.compatVersion }),
    links: links.size,
    unknown: toPlainTable(info.unknown),
    ...(info.unknownFields.size === 0
      ? {}
      : { unknownFields: Object.fromEntries([...info.unknownFields].map(([path, table]) => [path, toPlainTable(table)])) }),
  };
}

function toPart(member: PresentMember, members: CartonMembers): Part {
  const { path, entry, digest } = member;
  return {
    ...roleOf(path),
    path,
    size: entry.size,
    ...(digest === undefined ? {} : { digest }),
    mode: entry.mode & 0o777,
    mtime: entry.mtime,
    content: contentOf(members, entry),
  };
}
