import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openFileRanges, openZip, readFolder } from '../bytes/index.js';
import { createError, type FilesSource, isToolkitError, type RangeSource } from '../core/index.js';
import type { OpsContext } from './context.js';
import { createFileClient } from './registries.js';

/** A package that is one file, or was one and lies unpacked in a folder. */
export interface FilesPackage extends FilesSource {
  /** `url`: every look inside is a request. */
  readonly from: 'file' | 'folder' | 'url';
  /** All bytes of the file; absent for a folder. */
  readonly bytes?: RangeSource;
}

const zipMagics = [0x04034b50, 0x06054b50];

/** What the first bytes say; nothing else is judged. */
export async function isZipFile(path: string): Promise<boolean> {
  const file = await openFileRanges(path);
  try {
    return await beginsLikeZip(file);
  } finally {
    await file.close();
  }
}

async function beginsLikeZip(bytes: RangeSource): Promise<boolean> {
  if (bytes.size < 4) return false;
  const first = await bytes.read(0, 4);
  return zipMagics.includes(new DataView(first.buffer, first.byteOffset, 4).getUint32(0, true));
}

/** Undefined for what is no zip. A file that begins like one and is none throws what is wrong with it. */
export async function openPackageFile(path: string, location: string, context: OpsContext): Promise<FilesPackage | undefined> {
  const file = await openFileRanges(path, context.counters);
  context.keep(file);
  if (!(await beginsLikeZip(file))) return undefined;
  return { kind: 'files', location, tree: await openZip(file, { limits: context.limits, where: location }), from: 'file', bytes: file };
}

/** An unpacked carton: its documents say which files belong to it, so that none is left out. */
export async function openUnpackedPackage(path: string, location: string, context: OpsContext): Promise<FilesPackage | undefined> {
  const isCarton = ['carton.toml', 'MANIFEST'].every((name) => isFile(join(path, name)));
  if (!isCarton) return undefined;
  const tree = await readFolder(path, { limits: context.limits, counters: context.counters });
  return { kind: 'files', location, tree, from: 'folder' };
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

/** A package at a URL, read by range. */
export async function openPackageUrl(url: string, location: string, context: OpsContext): Promise<FilesPackage> {
  const { limits, counters, signal } = context;
  const { openRemoteFile } = await import('../http/index.js');
  const { plainHttp } = context.network;
  const bytes = await openRemoteFile(url, { client: await createFileClient(context), limits, counters, plainHttp, signal });
  context.keep(bytes);
  try {
    return { kind: 'files', location, tree: await openZip(bytes, { limits, where: location }), from: 'url', bytes };
  } catch (error) {
    if (!isToolkitError(error, 'bytes/bad-archive')) throw error;
    const { code, message, where, hint = 'Of packages that are read from a URL each is one zip; others are named as HOST/REPO:TAG' } = error;
    throw createError(code, { message, hint, where, cause: error });
  }
}
