import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createError, type Finding, type ModelPackage, type RunnableModel, type Run } from '../../core/index.js';
import { fitsHost } from '../../formats/index.js';
import { completeSamples, sampleFolders } from '../complete-samples.js';
import type { OpsContext } from '../context.js';
import { openPackage } from '../package.js';
import type { OpenedSource } from '../source.js';
import { unpackOpened } from '../unpack.js';
import { readHostTriple } from './host.js';
import { parseRunnerOptions } from './runner-options.js';

export interface RunnableOptions {
  readonly location: string;
  /** Another runtime, or framework version, than the package says; of a folder the ones it has none of. */
  readonly runner?: string;
  readonly frameworkVersion?: string;
  /** `NAME=VALUE`, over what the package says, key by key. */
  readonly opts?: readonly string[];
  /** Although the package is not made for this machine. */
  readonly anyPlatform?: boolean;
  /** Its samples are read, so that those of their tensors that are only linked are fetched. */
  readonly withSamples?: boolean;
}

/** A model that could be run: what it asks for, and where its files come from. */
export interface Runnable {
  readonly source: OpenedSource;
  readonly pkg: ModelPackage;
  readonly model: RunnableModel;
  /** Files of the model that `materialize` leaves out, as nothing says what they should be. */
  readonly findings: readonly Finding[];
  /** The model's files in a folder of its own, every byte proven; of a bare folder the folder itself. Gone when the context closes. */
  materialize(): Promise<string>;
}

/** Throws `runtime/wrong-platform`, `runtime/no-runtime` when nothing says how to run it, and what opening throws. */
export async function openRunnable(options: RunnableOptions, context: OpsContext): Promise<Runnable> {
  const { source, pkg: found } = await openPackage(options.location, context);
  if (source.kind !== 'folder' && found.format === 'carton') assertProven(found, options.location);
  if (options.anyPlatform !== true) assertPlatform(found, options.location);
  const pkg = options.withSamples === true ? await completeSamples(source, found, [sampleFolders.tensors], context) : found;
  const { run, io, extra } = pkg;
  const runtime = options.runner ?? run.runtime ?? guessRuntime(pkg);
  if (runtime === undefined)
    throw createError('runtime/no-runtime', {
      message: `Cannot run "${options.location}": nothing says what runs it`,
      hint: 'Add --runner NAME and --framework-version REQUIREMENT; runners: noop, python, torchscript, onnx',
    });
  const version = options.frameworkVersion ?? (options.runner === undefined || options.runner === run.runtime ? run.version : undefined);
  const layoutVersion = extra['runnerCompatVersion'];
  const model: RunnableModel = {
    location: options.location,
    runtime,
    ...(version === undefined ? {} : { version }),
    ...(typeof layoutVersion === 'number' ? { layoutVersion } : {}),
    options: { ...(pkg.typedOptions ?? toTyped(run.options)), ...parseRunnerOptions(options.opts ?? [], context) },
    inputs: io.inputs,
    outputs: io.outputs,
  };
  return {
    source,
    pkg,
    model,
    findings: [...listOverrides(pkg.run, model), ...listLeftOut(pkg)],
    materialize: () => materialize(source, pkg, options.location, context),
  };
}

/** What the package says was tried by whoever packed it; something else may give other answers. */
function listOverrides({ runtime, version }: Run, model: RunnableModel): Finding[] {
  const said = (what: string, stated: string, chosen: string): Finding => ({
    level: 'warning',
    code: 'runtime/overridden',
    message: `The package asks for ${what} ${JSON.stringify(stated)}, and is run with ${JSON.stringify(chosen)}`,
  });
  if (runtime !== undefined && runtime !== model.runtime) return [said('the runner', runtime, model.runtime)];
  return version === undefined || model.version === undefined || version === model.version ? [] : [said('the version', version, model.version)];
}

/** Where nobody kept the types, whole numbers are integers. */
function toTyped(options: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name, Number.isSafeInteger(value) ? BigInt(value as number) : value]));
}

function assertPlatform({ extra }: ModelPackage, location: string): void {
  const platforms = extra['requiredPlatforms'];
  if (!Array.isArray(platforms) || platforms.length === 0) return;
  const host = readHostTriple();
  if (fitsHost(platforms as readonly string[], host)) return;
  throw createError('runtime/wrong-platform', {
    message: `Cannot run "${location}" here: it is made for ${platforms.join(', ')}, and this is ${host}`,
    hint: 'Add --any-platform to try it all the same',
  });
}

/** What MANIFEST does not cover could be added by anybody without the model hash changing: it does not run. */
function listLeftOut({ format, parts }: ModelPackage): Finding[] {
  if (format !== 'carton') return [];
  return parts
    .filter(({ path, digest }) => path.startsWith('model/') && digest === undefined)
    .map(({ path }) => ({
      level: 'warning',
      code: 'carton/unlisted-member',
      message: `Left out: ${JSON.stringify(path)} is not covered by MANIFEST, so that nothing says what it should be`,
      where: path,
      hint: 'Pack the model again if it belongs to it',
    }));
}

/** One ONNX model needs nobody to say so. */
function guessRuntime({ parts }: ModelPackage): string | undefined {
  return parts.filter(({ path }) => path.endsWith('.onnx')).length === 1 ? 'onnx' : undefined;
}

async function materialize(
  source: OpenedSource,
  { format, parts, linked = [] }: ModelPackage,
  location: string,
  context: OpsContext,
): Promise<string> {
  if (source.kind === 'folder') return source.tree.root;
  const folder = mkdtempSync(join(context.env['TMPDIR'] || tmpdir(), 'modelport-run-'));
  context.keep({ close: async () => rmSync(folder, { recursive: true, force: true }) });
  const files = join(folder, 'package');
  if (format !== 'carton') {
    await unpackOpened(source, { location, output: files }, context);
    return files;
  }
  const model = join(files, 'model');
  if ([...parts, ...linked].some(({ path, digest }) => path.startsWith('model/') && digest !== undefined))
    await unpackOpened(source, { location, output: files, include: ['model/**'], onlyListed: true }, context);
  else mkdirSync(model, { recursive: true });
  return model;
}

/** What says how the model runs, and which files it has, is held to the model hash like the files. */
function assertProven({ findings, parts }: ModelPackage, location: string): void {
  const wrong = findings.find(({ code }) => code === 'carton/bad-manifest' || code === 'carton/wrong-hash');
  const isListed = parts.some(({ path, digest }) => path === 'carton.toml' && digest !== undefined);
  if (wrong === undefined && isListed) return;
  throw createError('ops/refused', {
    message: `Cannot run "${location}": ${wrong?.message ?? 'MANIFEST does not list "carton.toml", which says how'}`,
    where: wrong?.where ?? 'carton.toml',
    hint: '`modelport validate` says everything that is wrong',
    findings: wrong === undefined ? undefined : [wrong],
  });
}
