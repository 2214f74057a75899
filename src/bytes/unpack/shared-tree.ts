import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { assertWanted, type ByteStream, type Finding, type ProgressItem, silentProgress } from '../../core/index.js';
import { toIoError } from '../os-error.js';
import { fromFile } from '../streams.js';
import { Staging } from './staging.js';
import type { UnpackOptions, UnpackResult } from './unpack-source.js';

/** What lies in a tree that many targets share. */
export interface SharedEntry {
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'symlink';
  readonly size: number;
  readonly mode: number;
  /** Seconds since 1970. */
  readonly mtime: number;
}

/** The entries of a tree, parents first; undefined where there is none, or where somebody has made one of its files writable: it is no longer what was proven. */
export function readSharedTree(tree: string): readonly SharedEntry[] | undefined {
  if (lstatSync(tree, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const entries = listEntries(tree, '');
  return entries.some(({ kind, mode }) => kind === 'file' && (mode & 0o222) !== 0) ? undefined : entries;
}

function listEntries(tree: string, folder: string): SharedEntry[] {
  return readdirSync(join(tree, folder)).flatMap((name) => {
    const path = folder === '' ? name : `${folder}/${name}`;
    const entry = toEntry(path, lstatSync(join(tree, path)));
    return entry.kind === 'directory' ? [entry, ...listEntries(tree, path)] : [entry];
  });
}

function toEntry(path: string, stat: Stats): SharedEntry {
  const kind = stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'symlink' : 'file';
  return { path, kind, size: stat.size, mode: stat.mode & 0o777, mtime: stat.mtimeMs / 1000 };
}

export type CloneTreeOptions = Pick<UnpackOptions, 'counters' | 'overwrite' | 'progress' | 'select' | 'signal'>;

/**
 * Puts the files of a shared tree into the folder `target`, all or none, as `unpackPackage` does, without writing their bytes: each shares its blocks
 * with the tree where the file system can do that, else it is another name for the same file; only on another file system it is a copy, which a
 * note says. Files cannot be written to; folders are the target's own.
 */
export async function cloneTree(tree: string, entries: readonly SharedEntry[], target: string, options: CloneTreeOptions): Promise<UnpackResult> {
  const staging = new Staging(target, options);
  try {
    const cloning = new Cloning(tree, staging, options);
    for (const entry of entries) if (options.select?.(entry.path) ?? true) await cloning.take(entry);
    cloning.makeLinks();
    await staging.publish();
    return { files: cloning.files, bytes: cloning.bytes, findings: cloning.listFindings(target) };
  } catch (error) {
    await staging.discard(false);
    throw toIoError(error, 'unpack to', target);
  }
}

class Cloning {
  files = 0;
  bytes = 0;
  readonly #tree: string;
  readonly #staging: Staging;
  readonly #options: CloneTreeOptions;
  readonly #links: SharedEntry[] = [];
  readonly #copied: SharedEntry[] = [];

  constructor(tree: string, staging: Staging, options: CloneTreeOptions) {
    this.#tree = tree;
    this.#staging = staging;
    this.#options = options;
  }

  async take(entry: SharedEntry): Promise<void> {
    this.#assertWanted();
    const { path, kind, mode, mtime } = entry;
    if (kind === 'directory') return this.#staging.makeFolder(path, { mode, mtime });
    this.files++;
    if (kind === 'symlink') return void this.#links.push(entry);
    this.bytes += entry.size;
    if (this.#staging.shareFile(path, { kind: 'file', path: join(this.#tree, path), size: entry.size }, entry, true)) return;
    await this.#copy(entry);
    this.#copied.push(entry);
  }

  async #copy(entry: SharedEntry): Promise<void> {
    const { path, size } = entry;
    const item = (this.#options.progress ?? silentProgress).start('unpack', path, size);
    const file = this.#staging.createFile(path, size, entry);
    for await (const chunk of this.#watched(fromFile(join(this.#tree, path), undefined, this.#options.counters), item)) await file.writeAside(chunk);
    file.end();
    item.done();
  }

  async *#watched(stream: ByteStream, item: ProgressItem): ByteStream {
    for await (const chunk of stream) {
      this.#assertWanted();
      item.advance(chunk.byteLength);
      yield chunk;
    }
  }

  #assertWanted(): void {
    const { signal } = this.#options;
    assertWanted(signal);
  }

  /** They were judged when the tree was made. */
  makeLinks(): void {
    for (const { path, mtime } of this.#links) this.#staging.makeLink(path, readlinkSync(join(this.#tree, path)), { mtime });
  }

  listFindings(target: string): Finding[] {
    if (this.#copied.length === 0) return [];
    const bytes = this.#copied.reduce((sum, { size }) => sum + size, 0);
    const message = `${this.#copied.length} files (${bytes} bytes) are copies: between the store and "${target}" nothing can be cloned or linked`;
    return [{ level: 'note', code: 'bytes/not-shared', message, where: target, hint: 'Unpack to a folder on the file system of the store' }];
  }
}
