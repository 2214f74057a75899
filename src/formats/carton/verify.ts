import { drain, mapConcurrent, openPart, verified } from '../../bytes/index.js';
import {
  assertWanted,
  type ByteStream,
  type Digest,
  type FileTree,
  type Finding,
  type Limits,
  type PackageSource,
  type PartContent,
  type Progress,
  type ToolkitError,
} from '../../core/index.js';
import type { CartonDocuments, CartonMembers } from './carton.js';
import { readDocuments } from './documents.js';
import { type PresentMember, takeInventory } from './inventory.js';
import { contentOf, isWrongData } from './open-members.js';

export interface VerifyCartonOptions {
  readonly limits: Limits;
  readonly progress: Progress;
  /** Members being read at a time. */
  readonly concurrency: number;
  readonly signal?: AbortSignal | undefined;
  /** Members that are blobs with the digest of MANIFEST were hashed already, and are neither read nor counted. */
  readonly blobsAreProven?: boolean;
}

export interface VerifiedCarton {
  /** Members that were hashed, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Wrong hashes, files that are missing or not listed, and a note for each that is only linked. */
  readonly problems: readonly Finding[];
}

/** Every member against MANIFEST; a wrong one does not stop the others. Throws only what container, disk and network throw, and `core/cancelled`. */
export async function verifyCarton(source: PackageSource, options: VerifyCartonOptions): Promise<VerifiedCarton> {
  const found = await verifyDocuments(await readDocuments(source, options), options);
  // What is wrong with a container shows in its members first, and better.
  const isDamaged = found.problems.some(({ code }) => code === damaged);
  return isDamaged ? found : { ...found, problems: [...found.problems, ...(await checkContainer(source))] };
}

const damaged = 'carton/damaged-member';

/** A zip has a second list beside its first: the headers of the entries, also of those that MANIFEST does not list. */
interface CheckedTree extends FileTree {
  checkEntries(): Promise<void>;
}

async function checkContainer(source: PackageSource): Promise<readonly Finding[]> {
  if (source.kind !== 'files' || !hasEntries(source.tree)) return [];
  try {
    await source.tree.checkEntries();
    return [];
  } catch (error) {
    if (!isWrongData(error)) throw error;
    const { message, where = source.location } = error;
    return [{ level: 'error', code: damaged, message, where }];
  }
}

function hasEntries(tree: FileTree): tree is CheckedTree {
  return 'checkEntries' in tree && typeof tree.checkEntries === 'function';
}

async function verifyDocuments(documents: CartonDocuments, options: VerifyCartonOptions): Promise<VerifiedCarton> {
  const { present, linked, findings } = takeInventory(documents);
  const due = listDue(present).filter(
    (member) => options.blobsAreProven !== true || !isBlobOfItsDigest(contentOf(documents.members, member.entry), member.digest),
  );
  const problems = await mapConcurrent(due, options.concurrency, (member) => verifyMember(member, documents.members, options));
  return {
    files: due.length,
    bytes: due.reduce((sum, { entry }) => sum + entry.size, 0),
    problems: [...findings, ...problems.flat(), ...linked.map(({ path, digest, urls }) => onlyLinked(path, digest, urls))],
  };
}

interface DueMember extends PresentMember {
  readonly digest: Digest;
}

/** Each promise once: a link with the hash that its target has too needs no second read. Large ones first, so that none is left over at the end. */
function listDue(present: readonly PresentMember[]): readonly DueMember[] {
  const promised = new Set(present.flatMap(({ path, entry, digest }) => (path === entry.path ? [`${path}=${digest}`] : [])));
  return present
    .filter((member): member is DueMember => member.digest !== undefined)
    .filter(({ path, entry, digest }) => path === entry.path || !promised.has(`${entry.path}=${digest}`))
    .toSorted((one, other) => other.entry.size - one.entry.size);
}

async function verifyMember(member: DueMember, members: CartonMembers, options: VerifyCartonOptions): Promise<readonly Finding[]> {
  assertWanted(options.signal);
  const { path, entry, digest } = member;
  const item = options.progress.start('verify', path, entry.size);
  try {
    await drain(watched(await openVerified(contentOf(members, entry), digest, entry.size, path), item.advance.bind(item), options.signal));
    item.done();
    return [];
  } catch (error) {
    item.done('failed');
    if (!isWrongData(error)) throw error;
    return [toFinding(error, path)];
  }
}

/** A blob is hashed by who gives it; where that is the very hash of MANIFEST, once is enough. */
async function openVerified(content: PartContent, digest: Digest, size: number, path: string): Promise<ByteStream> {
  const stream = await openPart(content);
  return isBlobOfItsDigest(content, digest) ? stream : verified(stream, { digest, size }, JSON.stringify(path));
}

function isBlobOfItsDigest(content: PartContent, digest: Digest): boolean {
  return content.kind === 'blob' && content.descriptor.digest === digest;
}

async function* watched(stream: ByteStream, advance: (bytes: number) => void, signal: AbortSignal | undefined): ByteStream {
  for await (const chunk of stream) {
    assertWanted(signal);
    advance(chunk.byteLength);
    yield chunk;
  }
}

function toFinding(error: ToolkitError, path: string): Finding {
  const isHash = error.code === 'bytes/digest-mismatch' || error.code === 'bytes/size-mismatch';
  return {
    level: 'error',
    code: isHash ? 'carton/wrong-hash' : damaged,
    message: isHash ? error.message : `Cannot use ${JSON.stringify(path)}: ${error.message}`,
    where: path,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  };
}

function onlyLinked(path: string, digest: Digest, urls: readonly string[]): Finding {
  return {
    level: 'note',
    code: 'carton/linked-only',
    message: `${JSON.stringify(path)} is not in the carton and was not verified: ${digest} is to be had from ${urls.length} ${urls.length === 1 ? 'URL' : 'URLs'}`,
    where: path,
    hint: 'Fetch and verify linked files too: `modelport verify --links`',
  };
}
