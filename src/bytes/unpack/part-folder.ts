import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { withFolderLock } from '../folder-lock.js';
import { isLocked } from '../lock.js';
import { toIoError } from '../os-error.js';

/** Long enough for a weekend and a bad line, short enough that a model nobody wants any more does not fill the disk for good. */
const keptMs = 7 * 24 * 3_600_000;

/** One without a tree is just being made, or was left when its work was done. */
const emptyMs = 10 * 60_000;

const partName = /^\.modelport-[0-9a-f]{16}\.part$/;

/**
 * The hidden folder of an unpacking that can go on after anything: `tree` in it is filled, `lock` held meanwhile. The same target and
 * the same package find the same folder again. It lies in an existing target, else beside it.
 */
export function toPartFolder(target: string, isInside: boolean, key: string): string {
  const hash = createHash('sha256')
    .update(`${basename(target)}\0${key}`)
    .digest('hex');
  return join(isInside ? target : dirname(target), `.modelport-${hash.slice(0, 16)}.part`);
}

export function isPartName(name: string): boolean {
  return partName.test(name);
}

/** Runs `action` on the tree, which need not exist, while nobody else may. Throws `store/locked` when somebody else unpacks there. */
export function withPartFolder<T>(part: string, target: string, signal: AbortSignal | undefined, action: (tree: string) => Promise<T>): Promise<T> {
  const make = () => makeOwn(part, target);
  const work = () => {
    clear(part);
    return action(join(part, 'tree'));
  };
  return withFolderLock(join(part, 'lock'), make, work, { timeoutMs: 0, long: true, purpose: `unpack to "${target}"`, signal });
}

/** Only this user may look into it: what an earlier run left there can have been written by no one else. */
function makeOwn(part: string, target: string): void {
  try {
    const stat = lstatSync(part, { throwIfNoEntry: false });
    const isPrivate = stat === undefined || (isOwn(stat) && (process.getuid === undefined || (stat.mode & 0o077) === 0));
    if (!isPrivate) rmSync(part, { recursive: true, force: true });
    mkdirSync(dirname(part), { recursive: true });
    mkdirSync(part, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw toIoError(error, 'unpack to', target);
  }
}

/** Of taking the lock a kill leaves files too. Whoever is just taking it tries again when they are gone. */
function clear(part: string): void {
  const others = readdirSync(part).filter((name) => name !== 'lock' && name !== 'tree');
  for (const name of others) if (!name.startsWith('lock.') || !isLocked(join(part, name))) rmSync(join(part, name), { recursive: true, force: true });
}

function isOwn(stat: Stats): boolean {
  return stat.isDirectory() && (process.getuid === undefined || stat.uid === process.getuid());
}

/** True for one of this user that nobody works in; `old` asks also whether nobody is likely to go on in it. */
export function isForgottenPart(part: string, { old }: { readonly old: boolean }): boolean {
  const stat = lstatSync(part, { throwIfNoEntry: false });
  if (stat === undefined || !isOwn(stat) || isLocked(join(part, 'lock'), { long: true })) return false;
  const lifeMs = readdirSync(part).includes('tree') ? keptMs : emptyMs;
  return !old || Date.now() - stat.mtimeMs > lifeMs;
}
