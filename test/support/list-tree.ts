import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface FoundPath {
  /** Relative to the folder that was listed. */
  readonly path: string;
  readonly found: Dirent;
}

/** Everything below a folder, links not followed. (Node's own recursive listing follows links to folders from version 22 on.) */
export function listTree(root: string, below = ''): FoundPath[] {
  return readdirSync(join(root, below), { withFileTypes: true }).flatMap((found) => {
    const path = join(below, found.name);
    return [{ path, found }, ...(found.isDirectory() ? listTree(root, path) : [])];
  });
}
