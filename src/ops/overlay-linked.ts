import type { FilesSource, FileTree, LinkedPart } from '../core/index.js';
import type { OpsContext } from './context.js';
import { openLinked } from './linked-files.js';

/** The same package with linked files among its own; each is fetched and hashed before it is shown. */
export async function overlayLinked(source: FilesSource, linked: readonly LinkedPart[], context: OpsContext): Promise<FilesSource> {
  const { tree } = source;
  const files = new Map(await Promise.all(linked.map(async (part) => [part.path, await openLinked(part, context)] as const)));
  const added = [...files].map(([path, { size }]) => ({ path, kind: 'file' as const, size, mode: 0o644, mtime: 0 }));
  const overlay: FileTree = {
    entries: [...tree.entries, ...added].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    open: async (path, range) => files.get(path)?.open(range) ?? tree.open(path, range),
  };
  return { ...source, tree: overlay };
}
