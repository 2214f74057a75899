import { readdirSync } from 'node:fs';
import { basename, join, sep } from 'node:path';
import { type Buildfile, classifyAll, findBuildfile, readBuildfile, toFolderIgnore } from '../buildfile/index.js';
import { type FolderTree, portabilityOf, readFolder, toIoError } from '../bytes/index.js';
import { type Description, emptyDescription, type Finding, type ModelPackage, type Part, toParamSize } from '../core/index.js';
import { checkExternalData, summarizeWeights, type WeightFile, type WeightsReport } from '../weights/index.js';
import { readPersonText } from '../text/index.js';
import type { OpsContext } from './context.js';
import { type FolderHints, readHints } from './folder-hints.js';
import { listTestTensors, readFolderSamples } from './folder-samples.js';
import { checkShardIndexes, readWeightConfigs, readWeights } from './read-weights.js';

/** A plain folder, with what a person wrote about it: no package yet. */
export interface FolderSource {
  readonly kind: 'folder';
  readonly location: string;
  readonly tree: FolderTree;
  readonly buildfile?: Buildfile;
  readonly findings: readonly Finding[];
}

/** Walks the folder; of its files only the build file is read. `file` names another build file than the folder's own. */
export async function openFolder(path: string, location: string, options: { readonly file?: string }, context: OpsContext): Promise<FolderSource> {
  const found = findBuildfile(listNames(path), options.file);
  const buildfile = found.path === undefined ? undefined : await readBuildfile(options.file ?? join(path, found.path), context.limits);
  const rules = (buildfile?.description ?? emptyDescription).files;
  const tree = await readFolder(path, { limits: context.limits, counters: context.counters, ignore: toFolderIgnore(rules) });
  return {
    kind: 'folder',
    location,
    tree,
    ...(buildfile === undefined ? {} : { buildfile }),
    findings: [...found.findings, ...(buildfile?.findings ?? [])],
  };
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    throw toIoError(error, 'read the folder', path);
  }
}

export interface DescribedFolder {
  readonly pkg: ModelPackage;
  readonly description: Description;
  readonly weightFiles: readonly WeightFile[];
}

/**
 * What `pack` would make of a folder: what was written wins over what the weight files say, and that over README and licence text. Reads
 * headers and small files only. Nothing depends on the folder's own name or times, so that the same files are the same package anywhere.
 */
export async function describeFolder(source: FolderSource, context: OpsContext): Promise<DescribedFolder> {
  const written = source.buildfile?.description ?? emptyDescription;
  const { parts, weightFiles, findings } = await readParts(source, written, context);
  const { configs, findings: configFindings } = await readWeightConfigs(parts, context);
  const report = summarizeWeights(weightFiles, configs);
  const hints = await readHints(parts, context);
  const description = await withDescriptionText(written, source.tree.root, context);
  const pkg = toPackage(description, parts, report, hints, [...source.findings, ...findings, ...configFindings]);
  const { typedOptions } = description;
  return {
    pkg: { ...pkg, ...(typedOptions === undefined ? {} : { typedOptions }), samples: readFolderSamples(description, source.tree.root, context) },
    description,
    weightFiles,
  };
}

/** `description = { file = "README.md" }`: the text is in the file. */
async function withDescriptionText(written: Description, root: string, { limits }: OpsContext): Promise<Description> {
  if (written.descriptionFile === undefined) return written;
  const description = await readPersonText(join(root, written.descriptionFile), limits);
  return { ...written, identity: { ...written.identity, description } };
}

interface ReadParts {
  readonly parts: readonly Part[];
  readonly weightFiles: readonly WeightFile[];
  readonly findings: readonly Finding[];
}

/** Roles come first from names; an ONNX file may then make weights of files beside it. */
async function readParts(source: FolderSource, description: Description, context: OpsContext): Promise<ReadParts> {
  const files = source.tree.entries.filter((entry) => entry.kind === 'file');
  const testTensors = listTestTensors(description);
  const classify = (externalData: ReadonlySet<string>) =>
    classifyAll(files, description.files, {
      externalData,
      testTensors,
      ...(source.buildfile === undefined ? {} : { findGlobPlace: (glob: string) => source.buildfile?.findGlobPlace(glob) }),
    });
  const first = classify(new Set());
  const firstParts = toParts(source, first.files);
  const { files: weightFiles, findings: weightFindings } = await readWeights(firstParts, context);
  const external = new Set(weightFiles.flatMap(listExternalPaths));
  const { files: classified, findings } = external.size === 0 ? first : classify(external);
  const parts = external.size === 0 ? firstParts : toParts(source, classified);
  const findSize = (path: string) => parts.find((part) => part.path === path)?.size;
  const missing = weightFiles.flatMap((file) => checkExternalData(file, findSize));
  const shards = await checkShardIndexes(parts, weightFiles, context);
  return { parts, weightFiles, findings: [...source.tree.problems, ...findings, ...weightFindings, ...missing, ...shards, ...listUnportable(parts)] };
}

/** Names that are fine here and cannot be written on every system. */
function listUnportable(parts: readonly Part[]): Finding[] {
  return parts.flatMap(({ path }) => {
    const reason = portabilityOf(path);
    return reason === undefined
      ? []
      : [
          {
            level: 'warning',
            code: 'bytes/unportable-path',
            message: `${reason}: the package cannot be unpacked there`,
            where: path,
            hint: 'Rename it if the package shall travel to Windows',
          },
        ];
  });
}

function listExternalPaths(file: WeightFile): string[] {
  const folder = file.file.slice(0, file.file.lastIndexOf('/') + 1);
  return (file.external ?? []).map(({ location }) => folder + location);
}

function toParts({ tree }: FolderSource, files: ReturnType<typeof classifyAll>['files']): Part[] {
  const entries = new Map(tree.entries.map((entry) => [entry.path, entry]));
  return files.flatMap(({ path, role, guessed }) => {
    const entry = entries.get(path);
    if (entry === undefined) return [];
    const { size, mode, mtime } = entry;
    return [
      {
        role,
        path,
        size,
        mode: mode & 0o777,
        mtime,
        ...(guessed ? { guessed } : {}),
        content: { kind: 'file', path: tree.root + sep + path, size, identity: entry.identity },
      } satisfies Part,
    ];
  });
}

function toPackage(
  description: Description,
  parts: readonly Part[],
  report: WeightsReport,
  hints: FolderHints,
  findings: readonly Finding[],
): ModelPackage {
  const { parameters, ...stated } = description.weights;
  const counted = parameters === undefined ? {} : { parameters, paramSize: toParamSize(parameters) };
  return {
    format: 'folder',
    identity: { ...hints.identity, ...report.identity, ...description.identity },
    weights: { ...hints.weights, ...report.summary, ...counted, ...stated },
    capabilities: { ...hints.capabilities, ...report.capabilities, ...description.capabilities },
    parts,
    io: { ...chooseIo(description, report, hints), selfTests: description.selfTests.length, examples: description.examples.length },
    run: { ...hints.run, ...description.run },
    extra: {},
    findings: [...findings, ...report.findings, ...hints.findings],
  };
}

/** The first that names any: what was written, what an ONNX graph says, what another package's description says. */
function chooseIo(
  ...sources: readonly (Partial<Pick<ModelPackage['io'], 'inputs' | 'outputs'>> | WeightsReport)[]
): Pick<ModelPackage['io'], 'inputs' | 'outputs'> {
  for (const source of sources) {
    const { inputs = [], outputs = [] } = 'summary' in source ? (source.io ?? {}) : source;
    if (inputs.length + outputs.length > 0) return { inputs, outputs };
  }
  return { inputs: [], outputs: [] };
}

/** For `init`: a name that a person may correct. */
export function suggestName(source: FolderSource): string {
  return basename(source.tree.root);
}
