import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsync,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type ByteCounters, createError } from '../../core/index.js';
import { syncFolder, temporaryName } from '../durable.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { removeLeftovers } from './leftovers.js';
import { planMerge } from './merge-folder.js';
import { isSystemError, toIoError } from '../os-error.js';
import { type Attributes, StagedFile } from './staged-file.js';

/** Larger files reach the disk one by one, while the next ones are written. */
export const largeFileBytes = 1024 * 1024;

/** Of the small ones only the first few do: more would cost more than writing them. (measured: 1 ms each) */
const syncedSmallFiles = 64;
const syncsAtATime = 16;

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
  readonly #counters: ByteCounters | undefined;
  readonly #made = new Set<string>(['']);
  readonly #attributes = new Map<string, Attributes>();
  readonly #open = new Set<StagedFile>();
  readonly #syncs = new Set<Promise<void>>();
  #syncFailure: unknown;
  #smallFiles = 0;

  /** Throws `bytes/exists` for a target that is not a folder, or holds something and may not be overwritten. */
  constructor(target: string, overwrite: boolean, counters?: ByteCounters) {
    this.#target = resolve(target);
    this.#counters = counters;
    this.#merges = judgeTarget(this.#target, overwrite);
    this.#folder = temporaryName(this.#merges ? join(this.#target, 'x') : this.#target);
    try {
      mkdirSync(dirname(this.#folder), { recursive: true });
      mkdirSync(this.#folder);
      this.#umask = 0o777 & ~statSync(this.#folder).mode;
    } catch (error) {
      throw toIoError(error, 'unpack to', target);
    }
  }

  /** Whether the disk takes names for equal that differ in case or Unicode form. */
  foldsNames(): boolean {
    const probe = join(this.#folder, 'probe');
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

  /** After a failure: nothing of it remains. */
  async discard(): Promise<void> {
    await Promise.all(this.#syncs);
    for (const file of this.#open) file.close();
    this.#open.clear();
    try {
      rmSync(this.#folder, { recursive: true, force: true });
    } catch {
      // The failure that led here is the one to be told; `removeLeftovers` finds what stays.
    }
  }

  #attempt<T>(action: string, path: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw toIoError(error, action, escapeForDisplay(join(this.#target, path)));
    }
  }
}

/** Not every file system has hard links, and those that do limit their number. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].some((code) => isSystemError(error, code))) throw error;
    copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** True when the target is a folder to be filled, false when there is none yet. */
function judgeTarget(target: string, overwrite: boolean): boolean {
  const held = listTarget(target);
  if (held === undefined) return false;
  const gone = removeLeftovers(target);
  const first = held.find((name) => !gone.includes(name));
  if (overwrite || first === undefined) return true;
  throw createError('bytes/exists', {
    message: `Cannot unpack to "${target}": the folder is not empty, it holds "${escapeForDisplay(first)}"`,
    hint: 'Choose a new or empty folder, or add --overwrite',
    where: target,
  });
}

/** Undefined when nothing stands there. A link to a folder counts as that folder. */
function listTarget(target: string): string[] | undefined {
  try {
    const stands = lstatSync(target, { throwIfNoEntry: false }) !== undefined;
    if (stands && statSync(target, { throwIfNoEntry: false })?.isDirectory() !== true) throw notAFolder(target);
    return stands ? readdirSync(target) : undefined;
  } catch (error) {
    throw toIoError(error, 'unpack to', target);
  }
}

function notAFolder(target: string): Error {
  return createError('bytes/exists', {
    message: `Cannot unpack to "${target}": something that is not a folder stands there`,
    hint: 'Choose a new or empty folder',
    where: target,
  });
}
