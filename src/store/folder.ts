import { readdirSync, rmdirSync } from 'node:fs';
import { isSystemError, toIoError } from '../bytes/index.js';

/** Names in a folder; none where there is no folder. */
export function listFolder(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return [];
    throw toIoError(error, 'list', folder);
  }
}

/** A layout that nobody is changing holds nothing but what the specification names. */
export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Others are at work in it, or have removed it.
  }
}
