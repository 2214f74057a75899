import { collect, digestOf, mapConcurrent, sniffMedia } from '../../../bytes/index.js';
import type { Digest, FileEntry, Limits } from '../../../core/index.js';
import { parseTypedToml } from '../../../text/index.js';
import type { CartonDocuments, CartonMembers } from '../carton.js';
import { describeCartonToml } from '../carton-toml.js';
import { resolveMember } from '../link-entries.js';
import { isWrongData, readEntry } from '../open-members.js';
import { linksName, miscFolder, tensorFolder, tensorIndexName, tomlName } from '../spec.js';
import { itemsOf, type RuleContext, type TextTensorFile, type TomlView, viewOf } from './context.js';

const readConcurrency = 8;
const headBytes = 64 * 1024;

/** Reads what rules ask beyond the documents: text tensors whole, the beginnings of files in misc/. No weights and no numeric tensors. */
export async function gather(documents: CartonDocuments): Promise<RuleContext> {
  const { members, toml, manifest, limits } = documents;
  const index = viewOf(documents.tensorIndex, tensorIndexName);
  const digests = new Map<string, Digest>();
  if (toml.kind === 'read') digests.set(tomlName, digestOf(Buffer.from(toml.text)));
  if (documents.tensorIndex.kind === 'read') digests.set(tensorIndexName, digestOf(Buffer.from(documents.tensorIndex.text)));
  return {
    documents,
    toml: viewOf(toml, tomlName),
    links: viewOf(documents.links, linksName),
    index,
    info: describeCartonToml(toml.kind === 'read' ? toml.value : { value: {}, locate: () => tomlName }),
    manifest: manifest.kind === 'read' ? manifest.value : undefined,
    members: new Map(members.tree.entries.map((entry) => [entry.path, entry])),
    tensorNames: new Set(itemsOf(index, 'tensor').map(({ table: { name } }) => name)),
    texts: await readTexts(members, index, limits, digests),
    media: await recogniseMisc(members),
    digests,
  };
}

async function readTexts(
  members: CartonMembers,
  index: TomlView,
  limits: Limits,
  digests: Map<string, Digest>,
): Promise<Map<string, TextTensorFile>> {
  const paths = itemsOf(index, 'tensor').flatMap(({ table: { dtype, file } }) =>
    dtype === 'string' && typeof file === 'string' ? [`${tensorFolder}${file}`] : [],
  );
  const files = await mapConcurrent([...new Set(paths)], readConcurrency, async (path): Promise<[string, TextTensorFile] | undefined> => {
    const found = resolveMember(members, path);
    return found.kind === 'file' ? [path, await readText(members, found.entry, limits, (digest) => digests.set(path, digest))] : undefined;
  });
  return new Map(files.filter((file) => file !== undefined));
}

async function readText(members: CartonMembers, entry: FileEntry, limits: Limits, tellDigest: (digest: Digest) => void): Promise<TextTensorFile> {
  try {
    const bytes = await readEntry(members, entry, limits.tensorTextBytes);
    tellDigest(digestOf(bytes));
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const document = parseTypedToml(text, entry.path, { ...limits, personFileBytes: limits.tensorTextBytes });
    const { data } = document.value;
    if (!Array.isArray(data)) return { kind: 'malformed', reason: 'expected a list "data"', where: document.locate(['data']) };
    const odd = data.findIndex((each: unknown) => typeof each !== 'string');
    if (odd >= 0) return { kind: 'malformed', reason: 'expected texts alone in "data"', where: document.locate(['data', odd]) };
    return { kind: 'read', values: data.length };
  } catch (error) {
    if (error instanceof TypeError) return { kind: 'malformed', reason: 'it is not UTF-8' };
    if (!isWrongData(error)) throw error;
    return { kind: 'malformed', reason: error.message, where: error.where };
  }
}

async function recogniseMisc(members: CartonMembers): Promise<Map<string, string>> {
  const files = members.tree.entries.filter(({ path, kind }) => kind === 'file' && path.startsWith(miscFolder));
  const found = await mapConcurrent(files, readConcurrency, async ({ path, size }): Promise<[string, string] | undefined> => {
    const type = await recognise(members, path, size);
    return type === undefined ? undefined : [path, type];
  });
  return new Map(found.filter((each) => each !== undefined));
}

/** Content that cannot be decoded is nothing that could be recognised; `verify` says what is wrong with it. */
async function recognise({ tree }: CartonMembers, path: string, size: number): Promise<string | undefined> {
  try {
    const head = await collect(await tree.open(path, { start: 0, end: Math.min(size, headBytes) }), headBytes, JSON.stringify(path));
    return sniffMedia(head, size)?.type;
  } catch (error) {
    if (!isWrongData(error)) throw error;
    return undefined;
  }
}
