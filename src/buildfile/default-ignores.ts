import { isBuildfileName } from './find-buildfile.js';

/**
 * One expression, because it meets every file of a folder: a hidden name, a cache or folder of tools, or a left-over, anywhere in the path. What
 * `.carton` holds, a lock file and wheels, belongs to the model.
 */
const unwanted =
  /(?:^|\/)(?:\.(?!carton(?:\/|$))|(?:__pycache__|node_modules|venv|__macosx|thumbs\.db|desktop\.ini)(?:\/|$)|[^/]*(?:\.pyc|\.pyo|\.tmp|~)(?:\/|$))/i;

/**
 * True for what no package wants unless it is named: hidden files and folders (so `.git`, `.venv`, `.DS_Store`), caches, left-over
 * temporary files, and at the root the build files. Works for folders as for files; `path` is relative with `/`.
 */
export function isIgnoredByDefault(path: string): boolean {
  return unwanted.test(path) || isBuildfileName(path);
}

/** The same for what lies below a folder that is named itself: only the rest of the path counts. */
export function isIgnoredBelow(folder: string, path: string): boolean {
  return folder === '' ? isIgnoredByDefault(path) : unwanted.test(path.slice(folder.length + 1));
}
