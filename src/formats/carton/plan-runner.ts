import { createError, type Description, type Finding, type ModelPackage, parseVersionRequirement, type Part, type Run } from '../../core/index.js';
import type { TomlTable, TomlValue } from '../../text/index.js';
import type { CartonSettings } from './carton-settings.js';
import { guessRunner, onnxRunner } from './model-files.js';
import type { CartonFields } from './write-toml.js';
import type { CartonWriteOptions } from './write-options.js';

export interface PlannedRunner {
  readonly runner: CartonFields['runner'];
  readonly findings: readonly Finding[];
}

/** Runners whose models mostly run with any version; what runs Python code has to say which. */
const anyVersionRunners: readonly string[] = ['noop', 'torchscript', onnxRunner];

/**
 * Who runs the model: what an option says, then the description, then the package it is made of, then what its files ask for. Throws
 * `carton/cannot-write` when nothing says it, and for options that a carton has no place for.
 */
export async function planRunner(
  pkg: ModelPackage,
  description: Description,
  settings: CartonSettings,
  parts: readonly Part[],
  options: CartonWriteOptions,
): Promise<PlannedRunner> {
  const source = options.source?.runner;
  const stated =
    options.runner ?? description.run.runtime ?? settings.runner ?? source?.name ?? (pkg.format === 'folder' ? undefined : pkg.run.runtime);
  const name = stated ?? (await guessRunner(parts, settings.model, options.limits));
  if (name === undefined) throw unknownRunner();
  const runner = name === 'onnx' ? onnxRunner : name;
  const run = { ...(pkg.format === 'folder' ? {} : pkg.run), ...description.run };
  const { requirement, findings } = planRequirement(runner, settings.requirement ?? run.version);
  // What the source says of itself has its types; a description has lost those.
  const typed = options.runnerOptions ?? (description.run.options === undefined ? source?.options : undefined);
  const guess: readonly Finding[] = stated === undefined ? [note(`Nothing names a runner; the files ask for "${runner}"`)] : [];
  return {
    runner: {
      name: runner,
      requirement,
      compatVersion: settings.compatVersion ?? source?.compatVersion ?? 1,
      options: planOptions(runner, run, typed),
    },
    findings: [...guess, ...findings],
  };
}

function planRequirement(runner: string, stated: string | undefined): { readonly requirement: string; readonly findings: readonly Finding[] } {
  if (stated === undefined && anyVersionRunners.includes(runner)) {
    return { requirement: '*', findings: [note(`Nothing says which version of the framework "${runner}" needs; the carton takes any`)] };
  }
  if (stated === undefined) {
    throw createError('carton/cannot-write', {
      message: `Cannot write a carton for the runner "${runner}": nothing says which version of its framework the model needs`,
      hint: 'Give --framework-version, for example --framework-version ">=3.10", or version under [run] of modelport.toml',
    });
  }
  const parsed = parseVersionRequirement(stated);
  if (!('problem' in parsed)) return { requirement: stated, findings: [] };
  throw createError('carton/cannot-write', {
    message: `Cannot write a carton that requires ${JSON.stringify(stated)}: ${parsed.problem}`,
    hint: 'Give a requirement as Rust has them, for example --framework-version "=2.1.0" or ">=3.9, <3.13"',
  });
}

/** Flat: text, whole numbers, floats, true or false. (carton.toml, runner.opts) */
function planOptions(runner: string, run: Run, typed: TomlTable | undefined): TomlTable {
  const stated = typed ?? withIntegers(run.options ?? {});
  const entries = Object.entries(stated).map(([key, value]) => [key, toOption(key, value)] as const);
  return { ...(runner === 'python' ? toEntrypoint(run.entrypoint) : {}), ...Object.fromEntries(entries) };
}

/** Plain values do not tell `1` from `1.0`: whole numbers are integers. */
function withIntegers(plain: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(plain).map(([key, value]) => [key, Number.isSafeInteger(value) ? BigInt(value as number) : value]));
}

function toOption(key: string, value: unknown): TomlValue {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return value;
  throw createError('carton/cannot-write', {
    message: `Cannot write the runner option ${JSON.stringify(key)} into a carton: expected text, a number, true or false`,
    where: `run.options.${key}`,
    hint: 'Write several plain options instead of a table or list',
  });
}

/** `package.module:function`, as the python runner names it by two options. */
function toEntrypoint(entrypoint: string | undefined): TomlTable {
  const [, module, name] = /^([\w.]+):(\w+)$/.exec(entrypoint ?? '') ?? [];
  if (module !== undefined && name !== undefined) return { entrypoint_package: module, entrypoint_fn: name };
  if (entrypoint === undefined) return {};
  throw createError('carton/cannot-write', {
    message: `Cannot write the entry point ${JSON.stringify(entrypoint)} into a carton: expected "module:function", for example "main:get_model"`,
    where: 'run.entrypoint',
  });
}

function unknownRunner(): Error {
  return createError('carton/cannot-write', {
    message: 'Cannot write a carton: nothing says which runner the model needs, and the files do not tell: expected one ONNX or one TorchScript file',
    hint: 'Give both: --runner noop|python|torchscript|onnx and --framework-version REQUIREMENT',
  });
}

function note(message: string): Finding {
  return { level: 'note', code: 'carton/decided', message };
}
