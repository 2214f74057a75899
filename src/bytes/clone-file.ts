import { closeSync, constants, copyFileSync, fsyncSync, openSync, rmSync } from 'node:fs';
import type { FileContent } from '../core/index.js';
import { isSystemError, toIoError } from './os-error.js';
import { assertUnchanged } from './whole-file.js';

/** What file systems answer that cannot share blocks, or not between these two places. */
const refusals = ['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY', 'EPERM', 'EACCES'];

/**
 * A new file that shares its blocks with `file` (a reflink): nothing is copied, and what changes in one does not show in the other. False
 * where the file system cannot do that; then nothing is there. Synced. Throws `bytes/file-changed` when the file is not as it was listed.
 */
export function cloneFile(file: FileContent, target: string): boolean {
  try {
    copyFileSync(file.path, target, constants.COPYFILE_FICLONE_FORCE);
    assertUnchanged(file);
    syncFile(target);
    return true;
  } catch (error) {
    rmSync(target, { force: true });
    if (refusals.some((code) => isSystemError(error, code))) return false;
    throw toIoError(error, 'clone', file.path);
  }
}

function syncFile(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
