import { posix } from 'node:path';
import type { FileAccess, TarEntry } from '../bytes/index.js';
import { createError } from '../core/index.js';
import { toMemberName } from './archive-names.js';

/** A file inside an archive: where its bytes begin and how many they are. */
export interface Member {
  readonly offset: number;
  readonly size: number;
}

/** The plain files of an archive by name. Links count only where `docker save` uses them, for a layer that two images share. */
export interface Members {
  readonly path: string;
  names(): ReadonlySet<string>;
  files(): Iterable<readonly [name: string, member: Member]>;
  find(name: string): Member | undefined;
  /** Its first bytes, at most `length`. */
  head(member: Member, length: number): Promise<Uint8Array>;
  /** The bytes of a small file; throws `bytes/bad-archive` when it is missing and `bytes/limit` when it is larger than `limit`. */
  read(name: string, limit: number): Promise<Uint8Array>;
}

const longestLinkChain = 8;

export function createMembers(path: string, access: FileAccess, entries: readonly TarEntry[]): Members {
  const files = new Map<string, Member>();
  const links = new Map<string, string>();
  for (const entry of entries) {
    const name = toMemberName(entry.name);
    if (entry.kind === 'file') addFile(files, name, entry, path);
    else if (entry.kind === 'symlink') links.set(name, posix.join(posix.dirname(name), entry.linkTarget ?? ''));
    else if (entry.kind === 'hardlink') links.set(name, toMemberName(entry.linkTarget ?? ''));
  }
  const find = (name: string) => {
    let target = toMemberName(name);
    for (let hop = 0; hop < longestLinkChain && links.has(target); hop++) target = links.get(target) ?? '';
    return files.get(target);
  };
  return {
    path,
    names: () => new Set(files.keys()),
    files: () => files,
    find,
    head: ({ offset, size }, length) => access.read(offset, Math.min(size, length)),
    read: async (name, limit) => {
      const member = find(name);
      if (member === undefined) throw badArchive(path, `the file "${name}" is missing`);
      if (member.size > limit)
        throw createError('bytes/limit', {
          message: `Cannot read "${name}" of "${path}": expected at most ${limit} bytes, found ${member.size}`,
          where: path,
        });
      return access.read(member.offset, member.size);
    },
  };
}

/** Of two files with one name some readers take the first and some the last. Blobs prove themselves, so for them it does not matter. */
function addFile(files: Map<string, Member>, name: string, { offset, size }: TarEntry, path: string): void {
  if (files.has(name) && !name.startsWith('blobs/')) throw badArchive(path, `the file "${name}" stands in it twice`);
  files.set(name, { offset, size });
}

export function badArchive(path: string, reason: string): Error {
  return createError('bytes/bad-archive', {
    message: `Cannot read the archive "${path}": ${reason}`,
    hint: 'The archive is damaged or not complete: fetch or build it again',
    where: path,
  });
}
