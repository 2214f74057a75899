import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fchmodSync,
  fsync,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ByteCounters, FileContent, StoredContent } from '../../core/index.js';
import { cloneFile } from '../clone-file.js';
import { syncFolder, temporaryName } from '../durable.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { fetchBlob, type FetchBlobOptions } from '../fetch-blob.js';
import { judgeTarget } from './judge-target.js';
import { keepBlobs } from './keep-blobs.js';
import { planMerge } from './merge-folder.js';
import { isSystemError, toIoError } from '../os-error.js';
import { type Attributes, setOwnerAndTime, StagedFile } from './staged-file.js';

/** Larger files reach the disk one by one, while the next ones are written. */
export const largeFileBytes = 1024 * 1024;

/** Of the small ones only the first few do: more would cost more than writing them. (measured: 1 ms each) */
const syncedSmallFiles = 64;
const syncsAtATime = 16;

/** A folder that an earlier run may have begun to fill. Its parent is this run's alone. */
export interface KeptTree {
  readonly path: string;
  /** Sizes of the files that may have been begun, by path. */
  readonly blobs: ReadonlyMap<string, number>;
}

export interface StagingOptions {
  readonly overwrite?: boolean | undefined;
  readonly counters?: ByteCounters | undefined;
  /** Filled instead of a new folder, and left for the next run when the world stops this one. */
  readonly tree?: KeptTree | undefined;
}

/**
 * A folder that is being filled under a hidden temporary name and appears at its final place whole or not at all: beside a
 * target that does not exist, inside one that does (a mount point or somebody's working folder must stay the folder it is).
 * Paths must have been judged. Nothing is ever written through a link: links are made last, by whoever fills it.
 * After a power cut the content of small files rests on the file system; all other steps are synced in order.
 */
export class Staging {
  readonly #target: string;
  readonly #folder: string;
  readonly #merges: boolean;
  readonly #umask: number;
  readonly #tree: KeptTree | undefined;
  readonly #counters: ByteCounters | undefined;
  readonly #made = new Set<string>(['']);
  readonly #attributes = new Map<string, Attributes>();
  readonly #open = new Set<StagedFile>();
  readonly #syncs = new Set<Promise<void>>();
  #syncFailure: unknown;
  #smallFiles = 0;
  #canClone = true;

  /** Throws `bytes/exists` for a target that is not a folder, or holds something and may not be overwritten. */
  constructor(target: string, { overwrite = false, counters, tree }: StagingOptions = {}) {
    this.#target = resolve(target);
    this.#counters = counters;
    this.#tree = tree;
    this.#merges = judgeTarget(this.#target, overwrite, tree === undefined ? undefined : dirname(tree.path));
    this.#folder = tree?.path ?? temporaryName(this.#merges ? join(this.#target, 'x') : this.#target);
    try {
      mkdirSync(dirname(this.#folder), { recursive: true });
      if (tree === undefined) mkdirSync(this.#folder);
      else for (const folder of keepBlobs(tree.path, tree.blobs).folders) this.#made.add(folder);
      this.#umask = findUmask(this.#folder);
    } catch (error) {
      throw toIoError(error, 'unpack to', target);
    }
  }

  /** Whether large blobs are to be fetched into it with `fetchFile`. */
  get isKept(): boolean {
    return this.#tree !== undefined;
  }

  /** Whether the disk takes names for equal that differ in case or Unicode form. */
  foldsNames(): boolean {
    const probe = temporaryName(join(this.#folder, 'x'));
    return this.#attempt('write to', '', () => {
      mkdirSync(probe);
      writeFileSync(join(probe, 'a\u00e9'), '');
      const folds = existsSync(join(probe, 'A\u00e9')) || existsSync(join(probe, 'ae\u0301'));
      rmSync(probe, { recursive: true });
      return folds;
    });
  }

  /** May come before or after what lies in it, and again. */
  makeFolder(path: string, attributes: Attributes): void {
    this.#attempt('make the folder', path, () => this.#ensureFolder(path));
    this.#attributes.set(path, attributes);
  }

  #ensureFolder(path: string): void {
    if (this.#made.has(path)) return;
    this.#ensureFolder(parentOf(path));
    mkdirSync(`${this.#folder}/${path}`);
    this.#made.add(path);
  }

  /** The permission bits that a file gets. */
  modeOf({ mode = 0o666 }: Attributes): number {
    return mode & 0o777 & ~this.#umask;
  }

  /** The caller writes exactly `size` bytes and ends it. */
  createFile(path: string, size: number, attributes: Attributes): StagedFile {
    return this.#attempt('write', path, () => {
      this.#ensureFolder(parentOf(path));
      const file: StagedFile = new StagedFile(`${this.#folder}/${path}`, escapeForDisplay(join(this.#target, path)), size, attributes, (handle) => {
        this.#open.delete(file);
        if (this.#counters !== undefined) this.#counters.written += size;
        this.#finishFile(handle, size);
      });
      this.#open.add(file);
      return file;
    });
  }

  #finishFile(handle: number, size: number): void {
    const matters = size > largeFileBytes || this.#smallFiles++ < syncedSmallFiles;
    if (matters && this.#syncs.size < syncsAtATime) return this.#syncAside(handle);
    try {
      if (matters) fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
  }

  #syncAside(handle: number): void {
    const sync = new Promise<void>((done) => {
      fsync(handle, (error) => {
        this.#syncFailure ??= error ?? undefined;
        closeSync(handle);
        this.#syncs.delete(sync);
        done();
      });
    });
    this.#syncs.add(sync);
  }

  /** A whole blob as a file, going on with what an earlier run left of it. Only where the folder is kept. */
  async fetchFile(path: string, { blobs, descriptor }: StoredContent, attributes: Attributes, options: FetchBlobOptions): Promise<void> {
    this.#attempt('write', path, () => this.#ensureFolder(parentOf(path)));
    const finish = (handle: number) => {
      fchmodSync(handle, this.modeOf(attributes));
      setOwnerAndTime(handle, attributes);
    };
    await fetchBlob(blobs, descriptor, `${this.#folder}/${path}`, { ...options, counters: this.#counters, finish });
  }

  /**
   * Gives a file the bytes of `from`, which never change, without writing them: its blocks are shared, or it becomes another name for the
   * same file where `canLink`; that one keeps its own mode and time. False when neither is possible; then nothing is there.
   */
  shareFile(path: string, from: FileContent, attributes: Attributes, canLink: boolean): boolean {
    return this.#attempt('write', path, () => {
      this.#ensureFolder(parentOf(path));
      const at = `${this.#folder}/${path}`;
      this.#canClone &&= cloneFile(from, at);
      if (!this.#canClone) return canLink && tryLink(from.path, at);
      chmodSync(at, this.modeOf(attributes));
      if (attributes.mtime !== undefined) utimesSync(at, attributes.mtime, attributes.mtime);
      return true;
    });
  }

  /** Another name for a file that has been written. */
  makeHardLink(path: string, existing: string): void {
    this.#attempt('make the hard link', path, () => {
      this.#ensureFolder(parentOf(path));
      linkOrCopy(`${this.#folder}/${existing}`, `${this.#folder}/${path}`);
    });
  }

  /** Only after everything else: from here on writing could follow it. */
  makeLink(path: string, linkTarget: string, { mtime, uid, gid }: Attributes): void {
    this.#attempt('make the link', path, () => {
      const at = `${this.#folder}/${path}`;
      this.#ensureFolder(parentOf(path));
      symlinkSync(linkTarget, at);
      if (uid !== undefined && gid !== undefined) lchownSync(at, uid, gid);
      if (mtime !== undefined) lutimesSync(at, mtime, mtime);
    });
  }

  /** Takes back a file of which a later entry holds other bytes. */
  removeFile(path: string): void {
    this.#attempt('remove', path, () => unlinkSync(`${this.#folder}/${path}`));
  }

  /** Everything is there and verified: puts it at its final place. */
  async publish(): Promise<void> {
    await Promise.all(this.#syncs);
    if (this.#syncFailure !== undefined) throw toIoError(this.#syncFailure, 'write to', this.#target);
    this.#attempt('unpack to', '', () => {
      this.#setFolders(this.#folder);
      for (const folder of this.#made) syncFolder(`${this.#folder}/${folder}`);
      if (this.#merges) this.#merge();
      else renameSync(this.#folder, this.#target);
      syncFolder(dirname(this.#folder));
    });
  }

  #merge(): void {
    const moves = planMerge(this.#folder, this.#target);
    for (const { from, to } of moves) renameSync(from, to);
    this.#setFolders(this.#target);
    for (const folder of new Set(moves.map(({ to }) => dirname(to)))) syncFolder(folder);
    rmSync(this.#folder, { recursive: true });
  }

  #setFolders(root: string): void {
    for (const [path, { mode, mtime, uid, gid }] of this.#attributes) {
      const at = `${root}/${path}`;
      if (uid !== undefined && gid !== undefined) chownSync(at, uid, gid);
      if (mode !== undefined) chmodSync(at, (mode & 0o777 & ~this.#umask) | 0o700);
      if (mtime !== undefined) utimesSync(at, mtime, mtime);
    }
  }

  /** After a failure nothing of it remains; but where a next attempt can go on (`isKept`), it stays, and where it lies is given back. */
  async discard(isKept: boolean): Promise<string | undefined> {
    await Promise.all(this.#syncs);
    for (const file of this.#open) file.close();
    this.#open.clear();
    if (this.#tree !== undefined && isKept && this.#holdsBlobs(this.#tree)) return dirname(this.#tree.path);
    try {
      rmSync(this.#folder, { recursive: true, force: true });
    } catch {
      // The failure that led here is the one to be told; `removeLeftovers` finds what stays.
    }
    return undefined;
  }

  #holdsBlobs({ blobs, path }: KeptTree): boolean {
    return [...blobs.keys()].some((name) => (lstatSync(`${path}/${name}`, { throwIfNoEntry: false })?.size ?? 0) > 0);
  }

  #attempt<T>(action: string, path: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw toIoError(error, action, escapeForDisplay(join(this.#target, path)));
    }
  }
}

/** What a new folder does not get. */
function findUmask(folder: string): number {
  const probe = temporaryName(join(folder, 'x'));
  mkdirSync(probe);
  const { mode } = statSync(probe);
  rmdirSync(probe);
  return 0o777 & ~mode;
}

/** What the system says where a file cannot get another name: no links at all, none across file systems, none to what others own, too many. */
const linkRefusals = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EACCES'];

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (linkRefusals.some((code) => isSystemError(error, code))) return false;
    throw error;
  }
}

/** Not every file system has hard links, and those that do limit their number. */
function linkOrCopy(from: string, to: string): void {
  if (!tryLink(from, to)) copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
