import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expectStream, readFolder, sumSizes } from '../../bytes/index.js';
import { compileGlobs, isIgnoredByDefault } from '../../buildfile/index.js';
import { createError, type Description, type Finding, type ModelPackage, type Part } from '../../core/index.js';
import { type CartonSink, type CartonWriteOptions, type CartonWritten, openMembers, writeCarton, writeCartonTree } from '../../formats/index.js';
import { readPersonText, type TomlTable } from '../../text/index.js';
import type { OpsContext } from '../context.js';
import { describeFolder, openFolder } from '../folder.js';
import { assertPackable, type PackOptions, withSettings } from '../packable.js';
import { distinct } from '../package.js';
import { toPartResult } from '../inspect.js';
import { toAbsolute } from '../paths.js';
import type { PackResult } from '../results.js';
import { parseRunnerOptions } from '../run/runner-options.js';
import { parseSettings } from '../settings.js';
import type { CartonTarget } from './carton-target.js';
import { packLinked, readLinks } from './pack-linked.js';

/**
 * A folder becomes a carton: from its modelport.toml, from a carton.toml that lies beside the model, or from runner and version alone. The
 * target is opened when it is clear that there is something to be packed.
 */
export async function packCarton(
  options: Omit<PackOptions, 'name' | 'output'>,
  open: () => Promise<CartonTarget>,
  context: OpsContext,
): Promise<PackResult> {
  const dir = toAbsolute(options.dir, context);
  assertMeaningful(options);
  return isCartonTree(dir, options) ? packTree(dir, options, open, context) : packFolder(dir, options, open, context);
}

/** Whoever wrote a carton.toml and no modelport.toml means it. */
function isCartonTree(dir: string, { file, runner }: Omit<PackOptions, 'name' | 'output'>): boolean {
  return file === undefined && runner === undefined && existsSync(join(dir, 'carton.toml')) && !existsSync(join(dir, 'modelport.toml'));
}

function assertMeaningful({ dir, vintage, layers, hybrid }: Omit<PackOptions, 'name' | 'output'>): void {
  if (vintage === undefined && layers === undefined && hybrid !== true) return;
  throw createError('ops/bad-option', {
    message: `Cannot pack "${dir}" as a carton with --vintage, --layers or --hybrid: those are about ModelPacks`,
    hint: 'Leave them out; --compress packs the files of the model with zstd',
  });
}

async function packTree(
  dir: string,
  options: Omit<PackOptions, 'name' | 'output'>,
  open: () => Promise<CartonTarget>,
  context: OpsContext,
): Promise<PackResult> {
  if ((options.set ?? []).length > 0)
    throw createError('ops/bad-option', {
      message: `Cannot use --set with "${options.dir}": what its carton.toml says is written as it is`,
      hint: `Change ${join(options.dir, 'carton.toml')}`,
    });
  // A MANIFEST says what belongs to the carton; without one, hidden files and caches do not.
  const ignore = existsSync(join(dir, 'MANIFEST')) ? {} : { ignore: isIgnoredByDefault };
  const tree = await readFolder(dir, { limits: context.limits, counters: context.counters, ...ignore });
  const first = tree.problems[0];
  if (first !== undefined)
    throw createError('ops/refused', {
      message: `Cannot pack "${options.dir}": ${first.message}`,
      where: first.where,
      hint: first.hint,
      findings: tree.problems,
    });
  expectStream(sumSizes(tree));
  const members = await openMembers({ kind: 'files', location: options.dir, tree }, { limits: context.limits });
  return writeTo(
    [],
    open,
    (target) =>
      writeCartonTree(members, target.sink, { ...writeBase(context), root: tree.root, compression: options.compress === true ? 'zstd' : 'none' }),
    [],
  );
}

async function packFolder(
  dir: string,
  options: Omit<PackOptions, 'name' | 'output'>,
  open: () => Promise<CartonTarget>,
  context: OpsContext,
): Promise<PackResult> {
  const folder = await openFolder(dir, options.dir, options.file === undefined ? {} : { file: toAbsolute(options.file, context) }, context);
  expectStream(sumSizes(folder.tree));
  const described = await describeFolder(folder, context);
  const pkg = withSettings(described.pkg, await parseSettings(options.set ?? [], context));
  assertPackable(pkg, options);
  const settings = await toWriteOptions(described.description, pkg.parts, folder.tree.root, options, context);
  const { description } = described;
  const links = readLinks(description);
  const write = (sink: CartonSink) => writeCarton(pkg, description, sink, settings);
  return writeTo(pkg.findings, open, ({ sink }) => (links.size === 0 ? write(sink) : packLinked(links, sink, write, context)), pkg.parts);
}

async function writeTo(
  findings: readonly Finding[],
  open: () => Promise<CartonTarget>,
  write: (target: CartonTarget) => Promise<CartonWritten>,
  parts: ModelPackage['parts'],
): Promise<PackResult> {
  const target = await open();
  try {
    const written = await write(target);
    const digest = await target.finish(written.root);
    return {
      format: 'carton',
      vintage: 'v1',
      digest,
      modelHash: written.modelHash,
      name: target.name,
      path: target.path,
      bytes: written.bytes,
      lost: written.lost,
      findings: distinct([...findings, ...written.findings]),
      parts: parts.map(toPartResult),
    };
  } finally {
    await target.close();
  }
}

function writeBase({ progress, limits, concurrency, signal }: OpsContext) {
  return { progress, limits, concurrency, signal };
}

/** Options win over `[format.carton]`. */
async function toWriteOptions(
  description: Description,
  parts: readonly Part[],
  root: string,
  options: Omit<PackOptions, 'name' | 'output'>,
  context: OpsContext,
): Promise<CartonWriteOptions> {
  const written = description.format['carton'] ?? {};
  const textOf = (key: string) => (typeof written[key] === 'string' ? written[key] : undefined);
  const platforms = written['required_platforms'];
  const opts = { ...(description.typedOptions as TomlTable | undefined), ...parseRunnerOptions(options.opts ?? [], context) };
  return {
    ...writeBase(context),
    runner: options.runner ?? textOf('runner_name'),
    frameworkVersion: options.frameworkVersion ?? textOf('required_framework_version'),
    model: textOf('model'),
    runnerOptions: opts,
    requiredPlatforms: Array.isArray(platforms) ? platforms.filter((each): each is string => typeof each === 'string') : undefined,
    descriptionText: await readDescriptionText(description, root, context),
    miscPaths: listMisc(description, parts),
    compression: options.compress === true || textOf('compression') === 'zstd' ? 'zstd' : 'none',
  };
}

function listMisc({ files }: Description, parts: readonly Part[]): readonly string[] {
  const isMisc = compileGlobs(files.misc ?? []);
  return parts.map(({ path }) => path).filter(isMisc);
}

/** `description = { file = "README.md" }` */
async function readDescriptionText(description: Description, root: string, { limits }: OpsContext): Promise<CartonWriteOptions['descriptionText']> {
  const path = description.descriptionFile;
  return path === undefined ? undefined : { text: await readPersonText(join(root, path), limits), path };
}
