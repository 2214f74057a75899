import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FileAccess, openFileAccess, scanTar } from '../bytes/index.js';
import { isJsonObject, isToolkitError, type Limits, parseJson } from '../core/index.js';
import { toMemberName } from './archive-names.js';

const markerBytes = 64 * 1024;

/** Whether a folder is an OCI image layout: a readable `oci-layout` and an `index.json`. (OCI image-spec, image-layout.md) */
export function isLayout(dir: string): boolean {
  try {
    const marker = join(dir, 'oci-layout');
    const { size } = lstatSync(marker);
    if (size > markerBytes || ![marker, join(dir, 'index.json')].every((path) => lstatSync(path).isFile())) return false;
    const value = parseJson(readFileSync(marker), marker, { bytes: markerBytes });
    return isJsonObject(value) && typeof value['imageLayoutVersion'] === 'string';
  } catch {
    return false;
  }
}

export type ArchiveKind = 'oci-archive' | 'docker-archive';

/** `gzip`: something compressed, which cannot be looked into. `tar`: a tar of something else. */
export type SniffedArchive = ArchiveKind | 'gzip' | 'tar';

/**
 * What kind of archive a file is, by content; undefined for everything else. Reads headers only. A tar that is damaged throws
 * `bytes/bad-archive`. A file that is both (`docker save` writes such) is an OCI archive.
 */
export async function sniffArchive(path: string, limits: Limits): Promise<SniffedArchive | undefined> {
  const access = await openFileAccess(path);
  try {
    const head = await access.read(0, Math.min(access.size, 512));
    if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
    return head.length < 512 ? undefined : await sniffTar(access, Buffer.from(head).toString('latin1', 257, 262) === 'ustar', path, limits);
  } finally {
    await access.close();
  }
}

/** Tars from before POSIX have no mark: what cannot be read as one is not one. */
async function sniffTar(access: FileAccess, isMarked: boolean, path: string, limits: Limits): Promise<SniffedArchive | undefined> {
  try {
    const entries = await scanTar(access, { limits, where: path });
    return toArchiveKind(new Set(entries.map(({ name }) => toMemberName(name))));
  } catch (error) {
    if (!isMarked && isToolkitError(error, 'bytes/bad-archive')) return undefined;
    throw error;
  }
}

/** From the names of the members. */
export function toArchiveKind(names: ReadonlySet<string>): ArchiveKind | 'tar' {
  if (names.has('oci-layout') && names.has('index.json')) return 'oci-archive';
  return names.has('manifest.json') ? 'docker-archive' : 'tar';
}
