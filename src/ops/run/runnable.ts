import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createError, type ModelPackage, type RunnableModel } from '../../core/index.js';
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
  /** The model's files in a folder of its own, every byte proven; of a bare folder the folder itself. Gone when the context closes. */
  materialize(): Promise<string>;
}

/** Throws `runtime/wrong-platform`, `runtime/no-runtime` when nothing says how to run it, and what opening throws. */
export async function openRunnable(options: RunnableOptions, context: OpsContext): Promise<Runnable> {
  const { source, pkg: found } = await openPackage(options.location, context);
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
    options: { ...run.options, ...parseRunnerOptions(options.opts ?? [], context) },
    inputs: io.inputs,
    outputs: io.outputs,
  };
  return { source, pkg, model, materialize: () => materialize(source, pkg, options.location, context) };
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
  if ([...parts, ...linked].some(({ path }) => path.startsWith('model/')))
    await unpackOpened(source, { location, output: files, include: ['model/**'] }, context);
  else mkdirSync(model, { recursive: true });
  return model;
}
