import { lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isSystemError, syncFolder, toIoError } from '../bytes/index.js';
import { type Digest, splitDigest } from '../core/index.js';
import { toBlobPath } from './blob-path.js';
import { toFileMark } from './hash-blob-file.js';

/**
 * Takes a bad blob away, to `quarantine/`, where nobody takes it for a blob; durable when it returns the new path. Undefined when the file
 * `file` is not there any more: what has taken its place stays.
 */
export function setAside(layout: string, digest: Digest, file: string): string | undefined {
  const path = toBlobPath(layout, digest);
  const { algorithm, hex } = splitDigest(digest);
  const target = join(layout, 'quarantine', `${algorithm}-${hex}`);
  try {
    mkdirSync(dirname(target), { recursive: true });
    rmSync(target, { recursive: true, force: true });
    renameSync(path, target);
    const isSame = toFileMark(lstatSync(target, { bigint: true })) === file;
    if (!isSame) renameSync(target, path);
    for (const folder of [dirname(target), layout, dirname(path)]) syncFolder(folder);
    return isSame ? target : undefined;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw toIoError(error, 'set aside', path);
  }
}
