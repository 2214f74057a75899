import { basename } from 'node:path';
import { isRepository, type RootList } from '../../core/index.js';

/**
 * Where names that are a tag alone are served, as other tools write them into layouts: the repository that is called like the folder. Undefined for
 * a layout whose names have repositories of their own, where what has no name is attached to something.
 */
export function findOwnRepository(path: string, roots: RootList): string | undefined {
  const isBare = roots.readRoots().some(({ name }) => name !== undefined && !/[:/]/.test(name));
  return isBare ? toRepository(basename(path)) : undefined;
}

/** `My Models` → `my-models`; `model` when nothing is left. */
function toRepository(name: string): string {
  const text = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 100);
  return isRepository(text) ? text : 'model';
}
