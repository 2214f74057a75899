import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isSystemError, toIoError } from '../os-error.js';
import { isForgottenPart, isPartName } from './part-folder.js';

const temporary = /^\.modelport-(\d+)-[0-9a-f]{12}\.tmp$/;

/**
 * True for what a process of this program that is gone has left in `folder` (see `temporaryName`), and for what an unpacking that could go on
 * has left a week ago. Only this machine's processes are known: not to be asked about a folder that other machines or containers work in
 * at the same time.
 */
function isLeftover(folder: string, name: string): boolean {
  if (isPartName(name)) return isForgottenPart(join(folder, name), { old: true });
  const pid = temporary.exec(name)?.[1];
  if (pid === undefined) return false;
  return Number(pid) === process.pid ? isOlderThanThisProcess(join(folder, name)) : !isRunning(Number(pid));
}

/** In containers every run has the same number, so an own one is judged by its age. */
function isOlderThanThisProcess(path: string): boolean {
  const changed = lstatSync(path, { throwIfNoEntry: false })?.ctimeMs;
  return changed !== undefined && changed < Date.now() - process.uptime() * 1000 - 1000;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isSystemError(error, 'ESRCH');
  }
}

/** Deletes what crashed runs left in a folder, which need not exist. Gives the names. */
export function removeLeftovers(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => isLeftover(folder, name));
    for (const name of names) rmSync(join(folder, name), { recursive: true, force: true });
    return names;
  } catch (error) {
    if (isSystemError(error, 'ENOENT') || isSystemError(error, 'ENOTDIR')) return [];
    throw toIoError(error, 'clean up', folder);
  }
}
