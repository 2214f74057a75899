import { posix } from 'node:path';
import type { Description, Finding, Limits, ModelPackage, Part } from '../../core/index.js';
import { isCopied, miscNameOf, moveTargets } from './description-text.js';
import { writeLinks } from './links.js';
import { type CartonPlan, type PlannedFile, portableMode, textMember } from './member-plan.js';
import { placeModelFiles } from './model-files.js';
import { miscFolder, modelFolder, tensorFolder, tomlName, unlisted } from './spec.js';
import { toMemberContent } from './copy-plan.js';
import type { CartonWriteOptions } from './write-options.js';

/** The parts of a package by where they go. */
export interface SortedParts {
  /** To be laid out below model/. */
  readonly model: readonly Part[];
  readonly misc: readonly Part[];
  /** Text of model_description, targets moved. */
  readonly modelDescription?: string;
  readonly findings: readonly Finding[];
}

/**
 * Test tensors go to tensor_data and are left out here, the text of the description goes to carton.toml, what it shows and what examples name to
 * misc/, all the rest to model/.
 */
export function sortParts(
  pkg: ModelPackage,
  description: Description,
  options: Pick<CartonWriteOptions, 'descriptionText' | 'miscPaths'>,
): SortedParts {
  const { descriptionText } = options;
  const moved = descriptionText === undefined ? undefined : moveTargets(descriptionText, pkg.parts);
  const exampleFiles = listExampleFiles(pkg);
  const named = new Set([...(options.miscPaths ?? []), ...exampleFiles].map((path) => posix.normalize(path)));
  const tensors = new Set(listTensorFiles(description).filter((path) => !exampleFiles.includes(path)));
  const shown = new Set(moved?.misc);
  const goesToMisc = (part: Part) => named.has(part.path) || shown.has(part);
  const isElsewhere = (part: Part) => tensors.has(part.path) || part.path === descriptionText?.path;
  return {
    misc: pkg.parts.filter(goesToMisc),
    model: pkg.parts.filter((part) => (isKept(part, named) || !goesToMisc(part)) && !isElsewhere(part)),
    ...(moved === undefined ? {} : { modelDescription: moved.text }),
    findings: moved?.findings ?? [],
  };
}

/** What the text shows and the model needs stands in both places; a person who names a misc file means it. */
function isKept(part: Part, named: ReadonlySet<string>): boolean {
  return isCopied(part) && !named.has(part.path);
}

function listExampleFiles({ samples }: ModelPackage): readonly string[] {
  const values = (samples?.examples ?? []).flatMap(({ inputs, outputs }) => [...inputs.values(), ...outputs.values()]);
  return values.flatMap((value) => (value.kind === 'file' ? [value.path] : []));
}

/** Files that stand for tensors of self tests and examples. */
function listTensorFiles({ selfTests, examples }: Description): readonly string[] {
  const tables = [
    ...selfTests.flatMap(({ inputs, expected }) => [inputs, expected ?? {}]),
    ...examples.flatMap(({ inputs, sampleOut }) => [inputs, sampleOut]),
  ];
  return tables.flatMap((table) => Object.values(table)).map((path) => posix.normalize(path));
}

export interface PlannedFiles {
  readonly members: readonly PlannedFile[];
  readonly findings: readonly Finding[];
}

/** The members below model/ and misc/. Throws `carton/cannot-write` when the runner's files are not there. */
export async function planFiles(sorted: SortedParts, runner: string, chosen: string | undefined, limits: Limits): Promise<PlannedFiles> {
  const { files, made, findings } = await placeModelFiles(sorted.model, runner, chosen, limits);
  return {
    members: [
      ...files.map(({ path, part }) => toMember(part, modelFolder + path)),
      ...made.map(({ path, text }) => textMember(modelFolder + path, text)),
      ...sorted.misc.map((part) => toMember(part, miscFolder + miscNameOf(part.path))),
    ],
    findings: [...sorted.findings, ...findings],
  };
}

/** What a rewritten carton keeps: its members where they are, and the links of those that are elsewhere. Documents and tensors are made anew. */
export function keepMembers({ parts, linked = [] }: ModelPackage): Pick<CartonPlan, 'members' | 'linked' | 'links'> {
  const kept = linked.filter(({ path }) => isKeptPlace(path));
  const urls = new Map(kept.map((part) => [part.digest, part.urls]));
  return {
    members: parts.filter(({ path }) => isKeptPlace(path)).map((part) => toMember(part, part.path)),
    linked: new Map(kept.map(({ path, digest }) => [path, digest])),
    links: urls.size === 0 ? undefined : Buffer.from(writeLinks(urls)),
  };
}

function isKeptPlace(path: string): boolean {
  return path !== tomlName && !unlisted.includes(path) && !path.startsWith(tensorFolder);
}

function toMember({ size, mode, content, digest }: Part, path: string): PlannedFile {
  return {
    kind: 'file',
    path,
    size,
    mode: portableMode(mode),
    content: toMemberContent(content, size),
    digest: digest?.startsWith('sha256:') === true ? digest : undefined,
  };
}
