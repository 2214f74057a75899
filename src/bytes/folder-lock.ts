import { rmdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { isToolkitError } from '../core/index.js';
import { type LockOptions, withLock } from './lock.js';

/** Others may remove the empty folder between making it and locking in it, but not for ever. */
const attempts = 100;

/**
 * Like `withLock`, for a lock in a folder that is there only while it holds something: `make` makes the folder, also again when
 * another has just removed it, and afterwards it goes when it is empty.
 */
export async function withFolderLock<T>(path: string, make: () => void, action: () => T | Promise<T>, options: LockOptions): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const state = { entered: false };
    const enter = () => {
      state.entered = true;
      return action();
    };
    try {
      make();
      return await withLock(path, enter, options);
    } catch (error) {
      if (state.entered || attempt >= attempts || !isToolkitError(error, 'bytes/not-found')) throw error;
    } finally {
      removeIfEmpty(dirname(path));
    }
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It holds something, or another has removed it.
  }
}
