import type { FilesSource, FileTree, LinkedPart, PackageSource } from '../core/index.js';
import { openMembers } from '../formats/index.js';
import type { OpsContext } from './context.js';
import { openAllLinked } from './linked-files.js';

/** The same carton, as files, with linked ones among its own; each is fetched and hashed before it is shown. */
export async function overlayLinked(source: PackageSource, linked: readonly LinkedPart[], context: OpsContext): Promise<FilesSource> {
  const { tree, location } = await openMembers(source, { limits: context.limits });
  const files = await openAllLinked(linked, context);
  const added = [...files].map(([path, { size }]) => ({ path, kind: 'file' as const, size, mode: 0o644, mtime: 0 }));
  const overlay: FileTree = {
    entries: [...tree.entries.filter(({ path }) => !files.has(path)), ...added].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    open: async (path, range) => files.get(path)?.open(range) ?? tree.open(path, range),
  };
  return { kind: 'files', location, tree: overlay };
}
