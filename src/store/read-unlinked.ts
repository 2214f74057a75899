import { closeSync, constants, openSync, readFileSync } from 'node:fs';

/** A file as a whole, but not through a link that was planted in its place: that could lead anywhere. (`ELOOP`) */
export function readUnlinked(path: string): Buffer {
  const handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return readFileSync(handle);
  } finally {
    closeSync(handle);
  }
}
