import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { listFolder } from './folder.js';

/** Temp files and broken locks live for milliseconds: what is older belongs to nobody. */
const forgottenMs = 10 * 60_000;

/** Temp files of a change of the index, and locks on locks, that a crash left behind. Other machines may share the store, so that only age tells. */
export function listForgotten(layout: string): string[] {
  return ['.', 'cache', 'registry', join('ingest', 'partial')].flatMap((name) => listForgottenIn(join(layout, name)));
}

export function listForgottenIn(folder: string): string[] {
  return listFolder(folder)
    .filter((name) => /^\.modelport-.*\.tmp$|\.lock\../.test(name))
    .map((name) => join(folder, name))
    .filter(isForgotten);
}

function isForgotten(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > forgottenMs;
}
