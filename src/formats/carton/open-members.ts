import { collect, mapConcurrent, openPart } from '../../bytes/index.js';
import {
  createError,
  type FileEntry,
  type FilesSource,
  type FileTree,
  isToolkitError,
  type OciSource,
  type PackageSource,
  type PartContent,
  type ReadOptions,
  type ToolkitError,
} from '../../core/index.js';
import { parseManifest } from '../../oci/index.js';
import { ArtifactTree } from './artifact-tree.js';
import type { CartonMembers } from './carton.js';
import { artifactType } from './spec.js';

/**
 * The members of a carton, wherever they lie. Reads the targets of links, and of an artifact the tar layer with its small members. Throws
 * `carton/unreadable` for an artifact of another type, and what reading throws.
 */
export async function openMembers(source: PackageSource, options: ReadOptions): Promise<CartonMembers> {
  return source.kind === 'files' ? openFiles(source) : openArtifact(source, options);
}

async function openFiles({ tree, location }: FilesSource): Promise<CartonMembers> {
  const isZip = tree.entries.some(({ packed }) => packed !== undefined);
  const files = tree.entries.filter(({ kind }) => kind !== 'directory');
  const targets = await readTargets(tree, files);
  const entries = files.map((entry) => {
    const linkTarget = targets.get(entry.path);
    return linkTarget === undefined ? entry : { ...entry, linkTarget };
  });
  return { tree: { entries, open: (path, range) => tree.open(path, range) }, container: isZip ? 'zip' : 'folder', location };
}

const linkConcurrency = 8;

/** By path, of the links that do not say it in their entry. */
async function readTargets(tree: FileTree, files: readonly FileEntry[]): Promise<ReadonlyMap<string, string>> {
  const links = files.filter(({ kind, linkTarget }) => kind === 'symlink' && linkTarget === undefined);
  return new Map(await mapConcurrent(links, linkConcurrency, async (entry) => [entry.path, await readLink(tree, entry)] as const));
}

/** A zip keeps the target of a link as its content and gives it only when asked. */
interface LinkReader extends FileTree {
  readLink(path: string): Promise<string>;
}

/** Empty for a link whose target cannot be used: it leads nowhere, which is found where it is followed. */
async function readLink(tree: FileTree, { path }: FileEntry): Promise<string> {
  if (!hasLinks(tree)) return '';
  try {
    return await tree.readLink(path);
  } catch (error) {
    if (isWrongData(error)) return '';
    throw error;
  }
}

function hasLinks(tree: FileTree): tree is LinkReader {
  return 'readLink' in tree && typeof tree.readLink === 'function';
}

async function openArtifact(source: OciSource, { limits }: ReadOptions): Promise<CartonMembers> {
  const parsed = parseManifest(source.bytes, source.location, limits);
  if (parsed.kind === 'index' || parsed.manifest.artifactType !== artifactType) {
    throw createError('carton/unreadable', {
      message: `Cannot read "${source.location}" as a carton: expected the artifactType ${artifactType}, found ${parsed.kind === 'index' ? 'an index' : JSON.stringify(parsed.manifest.artifactType ?? 'none')}`,
      where: source.location,
    });
  }
  const tree = await ArtifactTree.open(parsed.manifest.layers, source, limits);
  return { tree, container: 'artifact', location: source.location };
}

/** Where the bytes of a file lie; `path` is that of an entry of kind `file`. */
export function contentOf({ tree }: CartonMembers, { path, packed }: FileEntry): PartContent {
  if (tree instanceof ArtifactTree) return tree.contentOf(path);
  const canSeek = packed === undefined || packed.method === 'none';
  return canSeek ? { kind: 'entry', tree, path } : { kind: 'stream', open: () => tree.open(path) };
}

/** All of a file, at most `limit` bytes. Throws `bytes/limit`. */
export async function readEntry(members: CartonMembers, entry: FileEntry, limit: number): Promise<Uint8Array> {
  if (entry.size > limit) {
    throw createError('bytes/limit', {
      message: `Cannot read ${JSON.stringify(entry.path)}: it is ${entry.size} bytes long and at most ${limit} are read`,
      where: entry.path,
    });
  }
  return collect(await openPart(contentOf(members, entry)), limit, JSON.stringify(entry.path));
}

/** True for what is wrong with the package; the disk, the network and a cancelled command are nobody's data. */
export function isWrongData(error: unknown): error is ToolkitError {
  return isToolkitError(error) && error.exitCode === 1;
}
