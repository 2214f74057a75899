import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createError } from '../core/index.js';
import { temporaryName } from './durable.js';
import { isSystemError, toIoError } from './os-error.js';
import { createOwner, lifeOf, type Owner, parseOwner, toOwnerText } from './owner.js';

export interface LockOptions {
  /** How long to wait for the holder, in milliseconds. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 60_000;
const longestPauseMs = 25;

/** A holder that cannot be seen from here is believed to live for this long: locks are held for one change of a file. */
const unseenHolderMs = 10 * 60_000;

/**
 * Runs `action` while this process alone holds the lock file `path`. A lock whose holder died is taken over. Waits at most
 * `timeoutMs`, then throws `store/locked` naming the holder.
 */
export async function withLock<T>(path: string, action: () => T | Promise<T>, options: LockOptions = {}): Promise<T> {
  const owner = createOwner();
  await acquire(path, owner, options.timeoutMs ?? defaultTimeoutMs);
  try {
    return await action();
  } finally {
    release(path, owner);
  }
}

async function acquire(path: string, owner: Owner, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (let wait = 1; !tryAcquire(path, owner); wait = Math.min(wait * 2, longestPauseMs)) {
    const holder = findHolder(path);
    if (holder === undefined) continue;
    if (holder.stale) await breakLock(path, holder.token, deadline - Date.now());
    else if (Date.now() >= deadline) throw locked(path, holder, timeoutMs);
    else await pause(wait * (0.5 + Math.random()));
  }
}

/** The file appears together with its content, so that nobody reads a lock without a holder. */
function tryAcquire(path: string, owner: Owner): boolean {
  const temporary = temporaryName(path);
  try {
    writeFileSync(temporary, toOwnerText(owner), { flag: 'wx' });
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    if (isSystemError(error, 'ENOENT') || !isSystemError(error)) throw toIoError(error, 'lock', path);
    return tryCreate(path, owner, error);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** For file systems without hard links. */
function tryCreate(path: string, owner: Owner, linkError: unknown): boolean {
  if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].some((code) => isSystemError(linkError, code)))
    throw toIoError(linkError, 'lock', path);
  try {
    writeFileSync(path, toOwnerText(owner), { flag: 'wx' });
    return true;
  } catch (error) {
    if (isSystemError(error, 'EEXIST')) return false;
    throw toIoError(error, 'lock', path);
  }
}

interface Holder {
  readonly token: string;
  readonly pid: number | undefined;
  readonly stale: boolean;
}

/** Undefined when the lock was given back in the meantime. */
function findHolder(path: string): Holder | undefined {
  try {
    const owner = parseOwner(readFileSync(path, 'utf8'));
    const life = owner === undefined ? 'unknown' : lifeOf(owner);
    const stale = life === 'dead' || (life === 'unknown' && Date.now() - statSync(path).mtimeMs > unseenHolderMs);
    return { token: owner?.token ?? 'unreadable', pid: owner?.pid, stale };
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw toIoError(error, 'read the lock', path);
  }
}

/**
 * Takes away a lock whose holder died. Only one process may do so for each token, and it looks again before it does: otherwise a second
 * one could take away the lock that the first has just acquired. Should the one that breaks die too, its own lock is broken the same way.
 */
async function breakLock(path: string, token: string, timeoutMs: number): Promise<void> {
  const breaking = () => {
    if (findHolder(path)?.token === token) rmSync(path, { force: true });
  };
  await withLock(`${path}.${token.slice(0, 8)}`, breaking, { timeoutMs: Math.max(timeoutMs, 1000) });
}

function release(path: string, owner: Owner): void {
  if (findHolder(path)?.token === owner.token) rmSync(path, { force: true });
}

function locked(path: string, holder: Holder, timeoutMs: number): Error {
  const who = holder.pid === undefined ? 'a process that left no number' : `process ${holder.pid}`;
  return createError('store/locked', {
    message: `Cannot change the store: ${who} has held "${path}" for more than ${Math.round(timeoutMs / 1000)} s`,
    hint:
      holder.pid === undefined ? `If nothing else is using the store, remove "${path}"` : `Wait for process ${holder.pid}, or stop it, and try again`,
    where: path,
  });
}
