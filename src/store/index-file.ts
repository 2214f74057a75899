import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isSystemError, type LockOptions, replaceFile, toIoError, withLock } from '../bytes/index.js';
import { createError, type Limits } from '../core/index.js';
import { emptyLayoutIndex, type LayoutIndex, parseLayoutIndex, toIndexText } from './layout-index.js';
import { readUnlinked } from './read-unlinked.js';

/** Gives back the same index where nothing changes. */
export type IndexChange = (index: LayoutIndex) => LayoutIndex;

/** index.json of a layout: read when it changed, written by one process at a time. */
export interface IndexFile {
  /** A layout that was not written yet has an empty index. */
  read(): LayoutIndex;
  /** `change` gets what the file holds while nobody else may write it; what it gives back replaces the file at once or not at all. */
  update(change: IndexChange, options?: LockOptions): Promise<void>;
  /** The same lock, for work during which no name may come or go, unless by the `update` it is given. */
  whileLocked<T>(action: (update: (change: IndexChange) => void) => Promise<T>, options?: LockOptions): Promise<T>;
}

export function createIndexFile(layout: string, limits: Limits): IndexFile {
  const path = join(layout, 'index.json');
  const lock = join(layout, 'index.lock');
  let known: { readonly identity: string; readonly index: LayoutIndex } | undefined;
  const read = () => {
    const identity = identify(path, limits);
    if (identity === undefined) return emptyLayoutIndex;
    if (known?.identity !== identity) known = { identity, index: parseLayoutIndex(readWhole(path), path, limits) };
    return known.index;
  };
  const update = (change: IndexChange) => {
    const before = read();
    const after = change(before);
    if (after === before) return;
    const bytes = Buffer.from(toIndexText(after));
    if (bytes.byteLength > limits.layoutIndexBytes) throw tooLarge('write', path, bytes.byteLength, limits);
    replaceFile(path, bytes);
    // What was written need not be parsed, and entries stay the same objects.
    const identity = identify(path, limits);
    known = identity === undefined ? undefined : { identity, index: after };
  };
  return {
    read,
    update: (change, options) => withLock(lock, () => update(change), options),
    whileLocked: (action, options) => withLock(lock, () => action(update), options),
  };
}

/** The file is only ever replaced, so a changed file is another inode. Undefined when there is none. */
function identify(path: string, limits: Limits): string | undefined {
  try {
    const stat = lstatSync(path, { bigint: true });
    if (!stat.isFile()) throw notPlain(path);
    const { dev, ino, size, mtimeNs, ctimeNs } = stat;
    if (size > limits.layoutIndexBytes) throw tooLarge('read', path, size, limits);
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw toIoError(error, 'read', path);
  }
}

function readWhole(path: string): Buffer {
  try {
    return readUnlinked(path);
  } catch (error) {
    throw isSystemError(error, 'ELOOP') ? notPlain(path) : toIoError(error, 'read', path);
  }
}

/** A link could lead anywhere, and a pipe has no end. */
function notPlain(path: string): Error {
  return createError('bytes/io', {
    message: `Cannot read "${path}": expected a plain file, found something else`,
    hint: 'Put the index back as a file of its own',
    where: path,
  });
}

function tooLarge(action: string, path: string, size: bigint | number, limits: Limits): Error {
  return createError('bytes/limit', {
    message: `Cannot ${action} "${path}": expected at most ${limits.layoutIndexBytes} bytes, found ${size}`,
    where: path,
  });
}
