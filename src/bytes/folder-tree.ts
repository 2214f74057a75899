import { type BigIntStats, type Dirent, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import {
  type ByteCounters,
  type ByteRange,
  type ByteStream,
  createError,
  type FileEntry,
  type FileIdentity,
  type FileTree,
  type Finding,
  type Limits,
} from '../core/index.js';
import { toFileIdentity } from './file-identity.js';
import { escapeForDisplay } from './escape-for-display.js';
import { toIoError } from './os-error.js';
import { judgePath } from './safe-path.js';
import { fromFile } from './streams.js';

export interface FolderEntry extends FileEntry {
  readonly kind: 'file' | 'directory';
  /** Of the target where the entry is a link. */
  readonly identity: FileIdentity;
}

export interface FolderTree extends FileTree {
  /** Absolute, links resolved. */
  readonly root: string;
  readonly entries: readonly FolderEntry[];
  /** What lies in the folder and cannot be part of a package: links out, to nothing or to folders, devices, names that are refused. */
  readonly problems: readonly Finding[];
}

export interface ReadFolderOptions {
  readonly limits: Limits;
  /** True leaves a path out; below a folder that is left out nothing is looked at. */
  readonly ignore?: (path: string, isDirectory: boolean) => boolean;
  /** `inside` (the default) follows links to files that lie in the folder, `anywhere` also those that lead out of it. */
  readonly links?: 'inside' | 'anywhere';
  readonly counters?: ByteCounters;
}

/**
 * The files and folders below `root` as they are now; nothing is opened. A link to a file is an entry of kind `file` with the size of its target.
 * A stream from `open` throws `bytes/file-changed` when the file no longer has the size of its entry.
 */
export async function readFolder(root: string, options: ReadFolderOptions): Promise<FolderTree> {
  const walk = new Walk(resolveRoot(root), options);
  walk.folder('');
  const entries = walk.entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  let byPath: Map<string, FolderEntry> | undefined;
  return {
    root: walk.root,
    entries,
    problems: walk.problems,
    open: async (path, range) => {
      byPath ??= new Map(entries.map((entry) => [entry.path, entry]));
      return openEntry(walk.root, byPath.get(path), path, range, options.counters);
    },
  };
}

function resolveRoot(root: string): string {
  try {
    return realpathSync(root);
  } catch (error) {
    throw toIoError(error, 'read the folder', root);
  }
}

function openEntry(
  root: string,
  entry: FolderEntry | undefined,
  path: string,
  range: ByteRange | undefined,
  counters: ByteCounters | undefined,
): ByteStream {
  const name = escapeForDisplay(path);
  if (entry?.kind !== 'file') throw createError('bytes/not-found', { message: `Cannot open "${name}": it is not a file of ${root}`, where: name });
  const stream = fromFile(join(root, path), range, counters);
  return range === undefined ? unchanged(stream, entry, name) : stream;
}

async function* unchanged(stream: ByteStream, entry: FolderEntry, name: string): ByteStream {
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size <= entry.size) yield chunk;
  }
  if (size === entry.size) return;
  throw createError('bytes/file-changed', {
    message: `Cannot read "${name}": it had ${entry.size} bytes and now has ${size}`,
    hint: 'Wait until nothing writes to the folder and run the same command again',
    where: name,
  });
}

/** Bytes of all its files. */
export function sumSizes({ entries }: Pick<FileTree, 'entries'>): number {
  return entries.reduce((sum, { size }) => sum + size, 0);
}

class Walk {
  readonly entries: FolderEntry[] = [];
  readonly problems: Finding[] = [];

  constructor(
    readonly root: string,
    readonly options: ReadFolderOptions,
  ) {}

  folder(folder: string): void {
    for (const found of list(join(this.root, folder))) {
      const path = folder === '' ? found.name : `${folder}/${found.name}`;
      if (this.options.ignore?.(path, found.isDirectory()) !== true) this.#visit(path, found);
    }
  }

  #visit(path: string, found: Dirent): void {
    const reason = judgePath(path, this.options.limits);
    if (reason !== undefined) return this.#refuse('bytes/unsafe-path', path, reason, 'Rename it');
    const isLink = found.isSymbolicLink();
    if (!isLink && !found.isFile() && !found.isDirectory()) {
      return this.#refuse('bytes/refused-entry', path, 'it is a device, a pipe or a socket', 'Remove it');
    }
    const target = isLink ? this.#followLink(path) : lookAt(`${this.root}/${path}`);
    if (target === undefined) return;
    this.#add(path, target);
    if (found.isDirectory()) this.folder(path);
  }

  #add(path: string, stat: BigIntStats): void {
    const { archiveEntries } = this.options.limits;
    if (this.entries.length >= archiveEntries) {
      throw createError('bytes/limit', {
        message: `Cannot read the folder "${this.root}": it holds more than ${archiveEntries} files`,
        where: this.root,
      });
    }
    const { size, mtimeNs, mode } = stat;
    const kind = stat.isDirectory() ? 'directory' : 'file';
    const mtime = Number(mtimeNs / 1_000_000_000n);
    const bytes = kind === 'file' ? Number(size) : 0;
    this.entries.push({ path, kind, size: bytes, mode: Number(mode) & 0o777, mtime, identity: toFileIdentity(stat) });
  }

  #followLink(path: string): BigIntStats | undefined {
    const at = join(this.root, path);
    const target = realPath(at);
    if (target === undefined) return this.#refuse('bytes/refused-entry', path, 'it is a link to nothing or to itself', 'Remove it');
    const stat = lookAt(target);
    if (!stat.isFile())
      return this.#refuse('bytes/refused-entry', path, 'it is a link to something that is not a file', 'Replace the link by what it points to');
    const inside = target.startsWith(this.root.endsWith(sep) ? this.root : this.root + sep);
    if (inside || this.options.links === 'anywhere') return stat;
    return this.#refuse('bytes/refused-entry', path, 'it is a link that leads out of the folder', 'Replace the link by the file it points to');
  }

  #refuse(code: 'bytes/unsafe-path' | 'bytes/refused-entry', path: string, reason: string, action: string): undefined {
    const name = escapeForDisplay(path);
    this.problems.push({
      level: 'error',
      code,
      message: `Cannot pack "${name}": ${reason}`,
      where: name,
      hint: `${action} or leave it out (files.ignore)`,
    });
    return undefined;
  }
}

function list(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw toIoError(error, 'read the folder', folder);
  }
}

function lookAt(path: string): BigIntStats {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    throw toIoError(error, 'read', path);
  }
}

/** Undefined for a link that leads nowhere. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
