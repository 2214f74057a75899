import { isBuildfileName } from './find-buildfile.js';

const ignoredNames = new Set(['__pycache__', 'node_modules', 'venv', 'thumbs.db', 'desktop.ini', '__macosx']);

/**
 * True for what no package wants unless it is named: hidden files and folders (so `.git`, `.venv`, `.DS_Store`), caches, left-over
 * temporary files, and at the root the build files. Works for folders as for files; `path` is relative with `/`.
 */
export function isIgnoredByDefault(path: string): boolean {
  return isBuildfileName(path) || path.split('/').some(isIgnoredName);
}

/** The same for what lies below a folder that is named itself: only the rest of the path counts. */
export function isIgnoredBelow(folder: string, path: string): boolean {
  return folder === '' ? isIgnoredByDefault(path) : path.slice(folder.length + 1).split('/').some(isIgnoredName);
}

function isIgnoredName(name: string): boolean {
  return name.startsWith('.') || ignoredNames.has(name.toLowerCase()) || /\.(?:pyc|pyo|tmp)$/i.test(name) || name.endsWith('~');
}
