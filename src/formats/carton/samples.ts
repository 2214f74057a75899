import { collect, openPart, verified } from '../../bytes/index.js';
import type { Example, Finding, LazyTensor, SampleValue, Samples, SelfTest } from '../../core/index.js';
import type { CartonDocuments, CartonExample, CartonInfo, CartonReference, CartonSelfTest, IndexEntry } from './carton.js';
import { resolveMember } from './link-entries.js';
import { mostProblems } from './links.js';
import { contentOf } from './open-members.js';
import { memberOf } from './references.js';
import { tensorIndexName } from './spec.js';
import { badTensor, loadTensor, type TensorFiles } from './tensor-data.js';
import { parseTensorIndex } from './tensor-index.js';

export interface ReadSamples {
  readonly samples: Samples;
  /** Of the index, and of references that lead nowhere. */
  readonly findings: readonly Finding[];
}

/** Self tests and examples; no tensor is read before somebody asks for it. */
export function readSamples(info: CartonInfo, documents: CartonDocuments): ReadSamples {
  const { files, findings } = openTensors(documents);
  return {
    samples: {
      selfTests: info.selfTests.map((test) => toSelfTest(test, files)),
      examples: info.examples.map((example) => toExample(example, files)),
    },
    findings: [...findings, ...listBadReferences(info, documents, files)],
  };
}

/** The tensors of a carton by name. Of a name that stands twice in the index the first counts. */
export function openTensors(documents: CartonDocuments): { readonly files: TensorFiles; readonly findings: readonly Finding[] } {
  const { tensorIndex, limits } = documents;
  if (tensorIndex.kind !== 'read') {
    const findings = tensorIndex.kind === 'broken' ? [tensorIndex.finding] : [];
    return { files: { entries: new Map(), limits, find: (path) => findFile(documents, path) }, findings };
  }
  const parsed = parseTensorIndex(tensorIndex.value, limits);
  const findings: Finding[] = [...parsed.problems];
  const entries = new Map<string, IndexEntry>();
  for (const entry of parsed.entries) {
    if (!entries.has(entry.name)) entries.set(entry.name, entry);
    else
      findings.push({
        level: 'error',
        code: 'carton/bad-tensor-index',
        message: `${tensorIndexName} names ${JSON.stringify(entry.name)} twice; the first counts`,
        where: tensorIndexName,
      });
  }
  return { files: { entries, limits, find: (path) => findFile(documents, path) }, findings };
}

function findFile({ members, manifest }: CartonDocuments, path: string): ReturnType<TensorFiles['find']> {
  const found = resolveMember(members, path);
  if (found.kind === 'broken') return found.reason;
  const digest = manifest.kind === 'read' ? manifest.value.digests.get(path) : undefined;
  if (found.kind === 'absent')
    return `its file ${JSON.stringify(path)} is not in the carton${digest === undefined ? '' : ', only listed in MANIFEST'}`;
  const { entry } = found;
  return {
    size: entry.size,
    read: async () => {
      const stream = await openPart(contentOf(members, entry));
      return collect(
        digest === undefined ? stream : verified(stream, { digest, size: entry.size }, JSON.stringify(path)),
        entry.size,
        JSON.stringify(path),
      );
    },
  };
}

/** A tensor by its name in the index; an unknown one throws `carton/bad-tensor` when it is asked for. */
export function lazyTensor(name: string, files: TensorFiles): LazyTensor {
  return async () => {
    const entry = files.entries.get(name);
    if (entry === undefined) throw badTensor(name, `it is not in ${tensorIndexName}, which has ${listSome([...files.entries.keys()])}`);
    return loadTensor(entry, files);
  };
}

const mostShown = 10;

function listSome(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const shown = names.slice(0, mostShown).map((name) => JSON.stringify(name));
  return `${shown.join(', ')}${names.length > mostShown ? ` and ${names.length - mostShown} more` : ''}`;
}

function toSelfTest({ inputs, expected, ...rest }: CartonSelfTest, files: TensorFiles): SelfTest {
  const load = (names: ReadonlyMap<string, string>) => mapValues(names, (name) => lazyTensor(name, files));
  return { ...rest, inputs: load(inputs), ...(expected === undefined ? {} : { expected: load(expected) }) };
}

function toExample({ inputs, outputs, ...rest }: CartonExample, files: TensorFiles): Example {
  const load = (references: ReadonlyMap<string, CartonReference>) =>
    mapValues(references, (reference): SampleValue =>
      reference.kind === 'tensor' ? { kind: 'tensor', load: lazyTensor(reference.name, files) } : { kind: 'file', path: memberOf(reference) },
    );
  return { ...rest, inputs: load(inputs), outputs: load(outputs) };
}

function mapValues<A, B>(map: ReadonlyMap<string, A>, change: (value: A) => B): ReadonlyMap<string, B> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}

function listBadReferences(info: CartonInfo, documents: CartonDocuments, files: TensorFiles): Finding[] {
  const findings: Finding[] = [];
  const check = (references: ReadonlyMap<string, CartonReference>, path: readonly (string | number)[]) => {
    for (const [key, reference] of references) {
      const isThere = reference.kind === 'tensor' ? files.entries.has(reference.name) : isKnownFile(documents, memberOf(reference));
      if (!isThere && findings.length < mostProblems) findings.push(badReference(reference, documents, [...path, key]));
    }
  };
  for (const [index, { inputs, expected }] of info.selfTests.entries()) {
    check(mapValues(inputs, toTensorReference), ['self_test', index, 'inputs']);
    check(mapValues(expected ?? new Map<string, string>(), toTensorReference), ['self_test', index, 'expected_out']);
  }
  for (const [index, { inputs, outputs }] of info.examples.entries()) {
    check(inputs, ['example', index, 'inputs']);
    check(outputs, ['example', index, 'sample_out']);
  }
  return findings;
}

function toTensorReference(name: string): CartonReference {
  return { kind: 'tensor', name };
}

/** In the carton, or at least listed: it may be linked. */
function isKnownFile({ members, manifest }: CartonDocuments, path: string): boolean {
  return resolveMember(members, path).kind === 'file' || (manifest.kind === 'read' && manifest.value.digests.has(path));
}

function badReference(reference: CartonReference, { toml }: CartonDocuments, path: readonly (string | number)[]): Finding {
  const reason =
    reference.kind === 'tensor'
      ? `${tensorIndexName} has no tensor ${JSON.stringify(reference.name)}`
      : `there is no file ${JSON.stringify(memberOf(reference))}`;
  return {
    level: 'error',
    code: 'carton/bad-reference',
    message: `Cannot use ${path.slice(0, 1).join('')}[${path[1]}].${path.slice(2).join('.')}: ${reason}`,
    where: toml.kind === 'read' ? toml.value.locate(path) : 'carton.toml',
  };
}
