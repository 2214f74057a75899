import { lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createError } from '../../core/index.js';
import { escapeForDisplay } from '../escape-for-display.js';
import { toIoError } from '../os-error.js';
import { removeLeftovers } from './leftovers.js';
import { isForgottenPart, isPartName } from './part-folder.js';

/**
 * True when the target is a folder to be filled, false when there is none yet; `bytes/exists` for one that is not a folder, or that holds
 * something and may not be overwritten. What earlier runs left in it does not count, and goes, but for the folder `part`.
 */
export function judgeTarget(target: string, overwrite: boolean, part?: string): boolean {
  const held = listTarget(target);
  if (held === undefined) return false;
  const gone = removeLeftovers(target);
  if (overwrite) return true;
  const rest = held.filter((name) => !gone.includes(name) && !(part !== undefined && name === basename(part)));
  const forgotten = rest.filter((name) => isPartName(name) && isForgottenPart(join(target, name), { old: false }));
  const first = rest.find((name) => !forgotten.includes(name));
  if (first === undefined) {
    // Begun for another package: the folder is to hold this one now.
    for (const name of forgotten) rmSync(join(target, name), { recursive: true, force: true });
    return true;
  }
  throw createError('bytes/exists', {
    message: `Cannot unpack to "${target}": the folder is not empty, it holds "${escapeForDisplay(first)}"`,
    hint: 'Choose a new or empty folder, or add --overwrite',
    where: target,
  });
}

/** Undefined when nothing stands there. A link to a folder counts as that folder. */
function listTarget(target: string): string[] | undefined {
  try {
    const stands = lstatSync(target, { throwIfNoEntry: false }) !== undefined;
    if (stands && statSync(target, { throwIfNoEntry: false })?.isDirectory() !== true) throw notAFolder(target);
    return stands ? readdirSync(target) : undefined;
  } catch (error) {
    throw toIoError(error, 'unpack to', target);
  }
}

function notAFolder(target: string): Error {
  return createError('bytes/exists', {
    message: `Cannot unpack to "${target}": something that is not a folder stands there`,
    hint: 'Choose a new or empty folder',
    where: target,
  });
}
