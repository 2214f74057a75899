import { lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isLocked, isSystemError, toIoError, withLock } from '../bytes/index.js';
import { createError, type DigestAlgorithm, digestAlgorithms, isJsonObject, isRepository, isToolkitError, parseJson } from '../core/index.js';
import { listFolder, removeIfEmpty } from './folder.js';
import { readUnlinked } from './read-unlinked.js';

/** Below the folder of the leases; no process has this number. */
export const uploadsFolder = 'uploads';

/** What is known of an upload when it begins. */
export interface UploadNote {
  readonly repository: string;
  /** By which the bytes are hashed on their way in. */
  readonly algorithm: DigestAlgorithm;
}

/** Others may remove the empty folder above between making it and writing into it, but not for ever. */
const attempts = 100;
const noteBytes = 4096;
const idGrammar = /^[0-9a-f]{32}$/;

/** The places of one upload: `data` holds its bytes, `upload.json` the note, `lock` is held while somebody works on it. */
export interface UploadFolder {
  readonly id: string;
  readonly path: string;
  readonly data: string;
  readonly lock: string;
}

const toUploads = (layout: string): string => join(layout, 'ingest', uploadsFolder);

/** Undefined for a text that is no id: it is judged before it becomes a path. */
export function toUploadFolder(layout: string, id: string): UploadFolder | undefined {
  if (!idGrammar.test(id)) return undefined;
  const path = join(toUploads(layout), id);
  return { id, path, data: join(path, 'data'), lock: join(path, 'lock') };
}

export function listUploadFolders(layout: string): UploadFolder[] {
  return listIds(layout).flatMap((id) => toUploadFolder(layout, id) ?? []);
}

/** Asked before each upload that begins, however many there are. */
export function countUploadFolders(layout: string): number {
  return listIds(layout).length;
}

function listIds(layout: string): string[] {
  if (findPlanted(toUploads(layout)) !== undefined) return [];
  return listFolder(toUploads(layout)).filter((id) => idGrammar.test(id));
}

/** What stands in the place of the uploads' folder, or of the one above it, and is none: a link there could lead anywhere. */
function findPlanted(uploads: string): string | undefined {
  return [dirname(uploads), uploads].find((folder) => lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false);
}

export function makeUploadFolder({ path }: UploadFolder, note: UploadNote): void {
  const planted = findPlanted(dirname(path));
  if (planted !== undefined) {
    throw createError('bytes/io', {
      message: `Cannot begin an upload in "${planted}": expected a folder of its own, found a link or a file`,
      hint: 'Remove it: the folder is made anew',
      where: planted,
    });
  }
  for (let attempt = 1; ; attempt++) {
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      writeFileSync(join(path, 'upload.json'), JSON.stringify(note), { flag: 'wx', mode: 0o600 });
      return;
    } catch (error) {
      if (attempt < attempts && isSystemError(error, 'ENOENT')) continue;
      rmSync(path, { recursive: true, force: true });
      for (const folder of [dirname(path), dirname(dirname(path))]) removeIfEmpty(folder);
      throw toIoError(error, 'write to', path);
    }
  }
}

/** Undefined where there is no upload: no folder of its own, a link, or a note that is none. */
export function readUploadNote({ path }: UploadFolder): UploadNote | undefined {
  const file = join(path, 'upload.json');
  try {
    if (findPlanted(dirname(path)) !== undefined) return undefined;
    const stat = lstatSync(file);
    if (!lstatSync(path).isDirectory() || !stat.isFile() || stat.size > noteBytes) return undefined;
    const value = parseJson(readUnlinked(file), file, { bytes: noteBytes });
    return toNote(value);
  } catch (error) {
    if (isToolkitError(error, 'core/bad-json') || ['ENOENT', 'ENOTDIR', 'ELOOP'].some((code) => isSystemError(error, code))) return undefined;
    throw toIoError(error, 'read', file);
  }
}

function toNote(value: unknown): UploadNote | undefined {
  if (!isJsonObject(value)) return undefined;
  const { repository, algorithm } = value;
  const known = (Object.keys(digestAlgorithms) as DigestAlgorithm[]).find((name) => name === algorithm);
  return typeof repository === 'string' && isRepository(repository) && known !== undefined ? { repository, algorithm: known } : undefined;
}

/** How many bytes are there; what is no plain file counts as none. */
export function findUploadSize({ data }: UploadFolder): number {
  const stat = lstatSync(data, { throwIfNoEntry: false });
  return stat?.isFile() === true ? stat.size : 0;
}

export async function removeUploadFolder(layout: string, { path }: UploadFolder): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    throw toIoError(error, 'remove', path);
  }
  for (const folder of [toUploads(layout), join(layout, 'ingest')]) removeIfEmpty(folder);
}

export interface PurgedUploads {
  readonly ids: readonly string[];
  readonly bytes: number;
}

/** Removes uploads to which nothing was added for `ageMs`, but none that somebody works on. */
export async function purgeUploadFolders(layout: string, ageMs: number, { dryRun }: { readonly dryRun: boolean }): Promise<PurgedUploads> {
  const purged = { ids: [] as string[], bytes: 0 };
  for (const folder of listUploadFolders(layout)) {
    const size = findUploadSize(folder);
    if (Date.now() - findTime(folder) < ageMs || isLocked(folder.lock, { long: true })) continue;
    if (!dryRun && !(await removeUnlocked(layout, folder))) continue;
    purged.ids.push(folder.id);
    purged.bytes += size;
  }
  return purged;
}

/** When something was added last, or when it began, in milliseconds since 1970. One that has just ended is young. */
function findTime({ data, path }: UploadFolder): number {
  const stat = lstatSync(data, { throwIfNoEntry: false }) ?? lstatSync(path, { throwIfNoEntry: false });
  return stat?.mtimeMs ?? Infinity;
}

/** False when somebody has come to work on it right now. What is no folder, as a link that was planted, goes without being looked into. */
async function removeUnlocked(layout: string, folder: UploadFolder): Promise<boolean> {
  if (lstatSync(folder.path, { throwIfNoEntry: false })?.isDirectory() !== true) {
    rmSync(folder.path, { force: true });
    return true;
  }
  try {
    await withLock(folder.lock, () => removeUploadFolder(layout, folder), { timeoutMs: 0, long: true });
    return true;
  } catch (error) {
    if (isToolkitError(error, 'store/locked') || isToolkitError(error, 'bytes/not-found')) return false;
    throw error;
  }
}
