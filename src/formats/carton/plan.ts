import { createError, type Description, type Finding, type ModelPackage } from '../../core/index.js';
import { toAnnotations } from './artifact.js';
import { type CartonSettings, readSettings } from './carton-settings.js';
import { listLosses } from './losses.js';
import { assertPaths, type CartonPlan, textMember } from './member-plan.js';
import { keepMembers, planFiles, type SortedParts, sortParts } from './plan-files.js';
import { planRunner } from './plan-runner.js';
import { planSamples } from './plan-samples.js';
import { modelFolder, tomlName } from './spec.js';
import { parseTargetTriple } from './target-triple.js';
import type { CartonWriteOptions } from './write-options.js';
import { type CartonFields, writeCartonToml } from './write-toml.js';

export interface PlannedCarton {
  readonly plan: CartonPlan;
  readonly lost: readonly Finding[];
  readonly findings: readonly Finding[];
}

/**
 * Package → what its carton will hold. Reads test tensors, requirements.txt and the headers of weights; refuses before anything is written. Throws
 * `carton/cannot-write`, `bytes/unsafe-path`.
 */
export async function planCarton(pkg: ModelPackage, description: Description, options: CartonWriteOptions): Promise<PlannedCarton> {
  const settings = readSettings(description, options);
  const sorted = sortParts(pkg, description, options);
  const { runner, findings: decided } = await planRunner(pkg, description, settings, sorted.model, options);
  assertDeclared(pkg);
  assertPlatforms(settings);
  const files = options.source === undefined ? await planFiles(sorted, runner.name, settings.model, options.limits) : keepMembers(pkg);
  const { members: tensors, ...samples } = await planSamples(pkg);
  const texts = describe(pkg, settings, sorted, options);
  const fields: CartonFields = {
    ...texts.fields,
    ...samples,
    requiredPlatforms: settings.requiredPlatforms,
    inputs: pkg.io.inputs,
    outputs: pkg.io.outputs,
    runner,
    unknown: options.unknown ?? options.source?.unknown ?? {},
    unknownFields: options.source?.unknownFields,
  };
  const members = [...files.members, ...tensors, textMember(tomlName, writeCartonToml(fields))];
  assertModel([...members.map(({ path }) => path), ...('linked' in files ? files.linked.keys() : [])]);
  assertPaths(members, options.limits);
  return {
    plan: { linked: new Map(), ...files, members, annotations: toAnnotations(fields) },
    lost: listLosses(pkg, description, runner.name),
    findings: [...settings.findings, ...decided, ...texts.findings, ...('findings' in files ? files.findings : [])],
  };
}

/** "A folder named `model`": without a file there is none. */
function assertModel(paths: readonly string[]): void {
  if (paths.some((path) => path.startsWith(modelFolder))) return;
  throw createError('carton/cannot-write', {
    message: 'Cannot write a carton without a model: no file is left for model/',
    hint: 'Test tensors, misc files and the text of the description have places of their own: what remains is the model',
  });
}

/** The most that the format's own library packs. */
const shortCharacters = 100;

interface Texts {
  readonly fields: Pick<CartonFields, 'modelName' | 'shortDescription' | 'modelDescription' | 'license' | 'repository' | 'homepage'>;
  readonly findings: readonly Finding[];
}

function describe({ identity }: ModelPackage, settings: CartonSettings, sorted: SortedParts, { source, descriptionText }: CartonWriteOptions): Texts {
  const { name, title, licenses, repository, homepage } = identity;
  // The text of a file is model_description, its targets moved: it is no summary of itself.
  const description = identity.description?.trim() === descriptionText?.text.trim() ? undefined : identity.description;
  const isUnchanged = description === (source?.modelDescription ?? source?.shortDescription);
  const summary = settings.shortDescription ?? (isUnchanged ? source?.shortDescription : undefined) ?? description;
  const text = source?.shortDescription === undefined && !isUnchanged ? undefined : source?.modelDescription;
  const modelDescription = sorted.modelDescription ?? text;
  const isShort = summary !== undefined && countCharacters(summary) <= shortCharacters;
  return {
    fields: {
      modelName: name ?? title,
      shortDescription: isShort ? summary : undefined,
      modelDescription: modelDescription ?? (isShort ? undefined : summary),
      license: licenses === undefined ? undefined : joinLicenses(licenses),
      repository,
      homepage,
    },
    findings: summary === undefined || isShort ? [] : [tooLong(summary, modelDescription !== undefined)],
  };
}

/** Code points, as the library of the format counts. */
function countCharacters(text: string): number {
  return Array.from(text).length;
}

/** One SPDX expression: all of them hold. */
function joinLicenses(licenses: readonly string[]): string | undefined {
  if (licenses.length < 2) return licenses[0];
  return licenses.map((each) => (/\s(OR|AND)\s/i.test(each) ? `(${each})` : each)).join(' AND ');
}

function tooLong(summary: string, hasText: boolean): Finding {
  const place = hasText ? 'it is left out, as model_description has another text' : 'it stands in model_description';
  return {
    level: hasText ? 'warning' : 'note',
    code: 'carton/long-description',
    message: `The description has ${countCharacters(summary)} characters and a short description at most ${shortCharacters}: ${place}`,
    where: 'package.description',
    hint: 'Give short_description under [format.carton]',
  };
}

/** "If you specify one input or output, you must specify all inputs and outputs." (carton.toml) */
function assertDeclared({ io }: ModelPackage): void {
  if (io.inputs.length === 0 && io.outputs.length === 0) return;
  if (io.inputs.length > 0 && io.outputs.length > 0) return;
  const [there, missing] = io.inputs.length > 0 ? ['inputs', 'output'] : ['outputs', 'input'];
  throw createError('carton/cannot-write', {
    message: `Cannot write a carton that declares ${there} only: expected all inputs and outputs, or neither`,
    hint: `Declare the others under [[${missing}]]`,
  });
}

function assertPlatforms({ requiredPlatforms }: CartonSettings): void {
  const bad = requiredPlatforms.find((triple) => 'problem' in parseTargetTriple(triple));
  if (bad === undefined) return;
  throw createError('carton/cannot-write', {
    message: `Cannot require the platform ${JSON.stringify(bad)}: expected a target triple`,
    hint: 'For example x86_64-unknown-linux-gnu or aarch64-apple-darwin',
  });
}
