import { posix } from 'node:path';
import { accessPart } from '../../bytes/index.js';
import { createError, type Finding, type Limits, type Part } from '../../core/index.js';
import { readWeightFile, type WeightFile } from '../../weights/index.js';
import { lockPath, planPythonLock } from './python-lock.js';

export const onnxRunner = 'modelport/onnx';

/** A part under the path that it has below model/. */
export interface ModelFile {
  readonly path: string;
  readonly part: Part;
}

export interface ModelFiles {
  readonly files: readonly ModelFile[];
  /** Texts that the runner needs and the package did not have, by path below model/. */
  readonly made: readonly { readonly path: string; readonly text: string }[];
  readonly findings: readonly Finding[];
}

/** What each of these runners loads, and what its weights are called. */
const singleFile = {
  [onnxRunner]: { name: 'model.onnx', what: 'ONNX', grammar: /\.onnx$/i },
  torchscript: { name: 'model.pt', what: 'TorchScript', grammar: /\.(pt|pth|ptl|ts|torchscript)$/i },
} as const;

function isSingleFile(runner: string): runner is keyof typeof singleFile {
  return Object.hasOwn(singleFile, runner);
}

/**
 * Lays out model/ as the runner expects it. `chosen` names the weights where there are several. Throws `carton/cannot-write` when the weights are
 * not there or not the only ones.
 */
export async function placeModelFiles(parts: readonly Part[], runner: string, chosen: string | undefined, limits: Limits): Promise<ModelFiles> {
  if (isSingleFile(runner)) return placeSingleFile(parts, runner, chosen, limits);
  const files = parts.map((part) => ({ path: part.path, part }));
  if (runner !== 'python') return { files, made: [], findings: [] };
  const { text, findings } = await planPythonLock(parts, limits);
  return { files, made: text === undefined ? [] : [{ path: lockPath, text }], findings };
}

async function placeSingleFile(
  parts: readonly Part[],
  runner: keyof typeof singleFile,
  chosen: string | undefined,
  limits: Limits,
): Promise<ModelFiles> {
  const weights = chooseWeights(parts, runner, chosen);
  const external = runner === onnxRunner ? await listExternal(weights, parts, limits) : [];
  const placed = new Set([weights, ...external.map(({ part }) => part)]);
  const left = parts.filter((part) => part.role === 'weights' && !placed.has(part));
  const others = parts.filter((part) => part.role !== 'weights' && !placed.has(part)).map((part) => ({ path: part.path, part }));
  return {
    files: [{ path: singleFile[runner].name, part: weights }, ...external, ...others],
    made: [],
    findings: left.length === 0 ? [] : [leftOut(left, runner)],
  };
}

function chooseWeights(parts: readonly Part[], runner: keyof typeof singleFile, chosen: string | undefined): Part {
  const { what, grammar } = singleFile[runner];
  if (chosen !== undefined) {
    const part = parts.find(({ path }) => path === posix.normalize(chosen));
    if (part !== undefined) return part;
    throw cannotWrite(`there is no file ${JSON.stringify(chosen)} in the package`, 'Give the path of the weights, relative to the folder');
  }
  const candidates = listCandidates(parts, grammar);
  const [only] = candidates;
  if (only !== undefined && candidates.length === 1) return only;
  const found = candidates.length === 0 ? 'none' : candidates.map(({ path }) => JSON.stringify(path)).join(', ');
  throw cannotWrite(
    `the runner "${runner}" takes one ${what} file, found ${found}`,
    candidates.length === 0 ? 'Choose another runner with --runner' : 'Name it: model = "FILE" under [format.carton]',
  );
}

/** Weights by role first; a file that a person gave another role is taken only when there are no others. */
function listCandidates(parts: readonly Part[], grammar: RegExp): readonly Part[] {
  const named = parts.filter(({ path }) => grammar.test(path));
  const weights = named.filter(({ role }) => role === 'weights');
  return weights.length === 0 ? named : weights;
}

/** Tensors that an ONNX file keeps elsewhere stay where it looks for them, beside it. */
async function listExternal(weights: Part, parts: readonly Part[], limits: Limits): Promise<readonly ModelFile[]> {
  const folder = posix.dirname(weights.path);
  const locations = new Set(((await readHeader(weights, limits))?.external ?? []).map(({ location }) => posix.normalize(location)));
  return [...locations].map((path) => {
    const part = parts.find((each) => each.path === posix.join(folder, path));
    if (part !== undefined) return { path, part };
    throw cannotWrite(
      `${JSON.stringify(weights.path)} keeps tensors in ${JSON.stringify(path)}, which is not in the package`,
      'Add the file to the folder',
    );
  });
}

async function readHeader({ path, size, content }: Part, limits: Limits): Promise<WeightFile | undefined> {
  const access = accessPart(content, size);
  try {
    return await readWeightFile(path, access, limits);
  } finally {
    await access.close();
  }
}

/** The runner that the files ask for: one ONNX graph, else one TorchScript archive; undefined when they do not say. */
export async function guessRunner(parts: readonly Part[], chosen: string | undefined, limits: Limits): Promise<string | undefined> {
  const weights = parts.filter(({ path, role }) => (chosen === undefined ? role === 'weights' : path === posix.normalize(chosen)));
  const graphs = weights.filter(({ path }) => singleFile[onnxRunner].grammar.test(path));
  if (graphs.length === 1) return onnxRunner;
  const archives = weights.filter(({ path }) => singleFile.torchscript.grammar.test(path));
  const [archive] = archives;
  if (archive === undefined || archives.length > 1 || graphs.length > 0) return undefined;
  return (await readHeader(archive, limits))?.metadata['torchscript'] === true ? 'torchscript' : undefined;
}

function leftOut(parts: readonly Part[], runner: string): Finding {
  return {
    level: 'note',
    code: 'carton/left-out',
    message: `Left out, because the runner "${runner}" does not load them: ${parts.map(({ path }) => JSON.stringify(path)).join(', ')}`,
    hint: 'A python carton holds every file as it is',
  };
}

function cannotWrite(reason: string, hint: string): Error {
  return createError('carton/cannot-write', { message: `Cannot write a carton: ${reason}`, hint });
}
