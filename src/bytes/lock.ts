import { linkSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { assertWanted, createError } from '../core/index.js';
import { temporaryName } from './durable.js';
import { isSystemError, toIoError } from './os-error.js';
import { createOwner, lifeOf, type Owner, parseOwner, toOwnerText } from './owner.js';

export interface LockOptions {
  /** How long to wait for a holder, in milliseconds; Infinity: as long as it lives. */
  readonly timeoutMs?: number;
  /**
   * For work that may take hours: the holder renews the lock, so that one that cannot be seen from here is known to be gone soon after it
   * stopped. All who use the same lock say the same.
   */
  readonly long?: boolean;
  /** What cannot be done while another holds it, for the error; `change the store` by default. */
  readonly purpose?: string;
  readonly signal?: AbortSignal | undefined;
}

const defaultTimeoutMs = 60_000;
const longestPauseMs = { short: 25, long: 250 };

/** A holder that cannot be seen from here is believed to live for this long: short locks are held for one change of a file, long ones are renewed. */
const unseenHolderMs = { short: 10 * 60_000, long: 2 * 60_000 };
const renewalMs = 15_000;

/**
 * Runs `action` while this process alone holds the lock file `path`. A lock whose holder died is taken over. Waits at most
 * `timeoutMs`, then throws `store/locked` naming the holder; `core/cancelled` when the signal comes while it waits.
 */
export async function withLock<T>(path: string, action: () => T | Promise<T>, options: LockOptions = {}): Promise<T> {
  const owner = createOwner();
  await acquire(path, owner, options);
  const renewal = options.long === true ? setInterval(() => renew(path, owner), renewalMs).unref() : undefined;
  try {
    return await action();
  } finally {
    clearInterval(renewal);
    release(path, owner);
  }
}

/** Whether somebody holds the lock who is alive, or may be. */
export function isLocked(path: string, { long = false }: LockOptions = {}): boolean {
  return findHolder(path, long)?.stale === false;
}

async function acquire(path: string, owner: Owner, options: LockOptions): Promise<void> {
  const { timeoutMs = defaultTimeoutMs, long = false, signal } = options;
  const began = Date.now();
  for (let wait = 1; !tryAcquire(path, owner); wait = Math.min(wait * 2, longestPauseMs[long ? 'long' : 'short'])) {
    assertWanted(signal);
    const holder = findHolder(path, long);
    if (holder === undefined) continue;
    const waited = Date.now() - began;
    if (holder.stale) await breakLock(path, holder.token, long, timeoutMs - waited);
    else if (waited >= patienceFor(holder, timeoutMs, long)) throw locked(path, holder, options, waited);
    else await pause(wait * (0.5 + Math.random()));
  }
}

/** Where the holder of a long lock cannot be seen, only time tells whether it still renews it. */
function patienceFor({ life }: Holder, timeoutMs: number, long: boolean): number {
  return long && life === 'unknown' ? Math.max(timeoutMs, unseenHolderMs.long + renewalMs) : timeoutMs;
}

function renew(path: string, owner: Owner): void {
  try {
    const now = new Date();
    if (findHolder(path, true)?.token === owner.token) utimesSync(path, now, now);
  } catch {
    // The next time may succeed; until then nobody who sees this process takes the lock away.
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
  readonly life: 'alive' | 'dead' | 'unknown';
  readonly stale: boolean;
}

/** Undefined when the lock was given back in the meantime. */
function findHolder(path: string, long: boolean): Holder | undefined {
  try {
    const owner = parseOwner(readFileSync(path, 'utf8'));
    const life = owner === undefined ? 'unknown' : lifeOf(owner);
    const believedMs = unseenHolderMs[long ? 'long' : 'short'];
    const stale = life === 'dead' || (life === 'unknown' && Date.now() - statSync(path).mtimeMs > believedMs);
    return { token: owner?.token ?? 'unreadable', pid: owner?.pid, life, stale };
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw toIoError(error, 'read the lock', path);
  }
}

/**
 * Takes away a lock whose holder died. Only one process may do so for each token, and it looks again before it does: otherwise a second
 * one could take away the lock that the first has just acquired. Should the one that breaks die too, its own lock is broken the same way.
 */
async function breakLock(path: string, token: string, long: boolean, timeoutMs: number): Promise<void> {
  const breaking = () => {
    if (findHolder(path, long)?.token === token) rmSync(path, { force: true });
  };
  await withLock(`${path}.${token.slice(0, 8)}`, breaking, { timeoutMs: Math.max(timeoutMs, 1000) });
}

function release(path: string, owner: Owner): void {
  if (findHolder(path, false)?.token === owner.token) rmSync(path, { force: true });
}

function locked(path: string, holder: Holder, { purpose = 'change the store' }: LockOptions, waitedMs: number): Error {
  const who = holder.pid === undefined ? 'a process that left no number' : `process ${holder.pid}`;
  const held = waitedMs < 1000 ? `holds "${path}"` : `has held "${path}" for more than ${Math.round(waitedMs / 1000)} s`;
  return createError('store/locked', {
    message: `Cannot ${purpose}: ${who} ${held}`,
    hint:
      holder.pid === undefined ? `If nothing else is at work there, remove "${path}"` : `Wait for process ${holder.pid}, or stop it, and try again`,
    where: path,
  });
}
