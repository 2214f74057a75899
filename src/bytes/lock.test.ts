import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isLocked, withLock } from './lock.js';
import { createOwner, lifeOf, type Owner, parseOwner, toOwnerText } from './owner.js';

let folder: string;
let lock: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  lock = join(folder, 'index.lock');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** No process has this number: Linux gives out at most 2^22. */
const nobody = 2 ** 22 + 1;

function hold(change: Partial<Owner>): void {
  writeFileSync(lock, toOwnerText({ ...createOwner(), ...change }));
}

describe('withLock', () => {
  it('lets one in at a time and leaves nothing behind', async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise(setImmediate);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => withLock(lock, work)));
    expect(most).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is given back after a failure', async () => {
    await expect(withLock(lock, () => Promise.reject(new Error('inside')))).rejects.toThrow('inside');
    expect(await withLock(lock, () => 'again')).toBe('again');
  });

  it('names the process that holds it for too long', async () => {
    hold({});
    await expect(withLock(lock, () => 1, { timeoutMs: 20 })).rejects.toMatchObject({
      code: 'store/locked',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    expect(existsSync(lock)).toBe(true);
  });

  it.each([
    ['a process that is gone', { pid: nobody }],
    ['an earlier process of this number', { started: '1' }],
    ['a process from before a reboot', { boot: 'an earlier one' }],
  ])('takes over from %s, one of many only', async (_what, change) => {
    hold(change);
    let inside = 0;
    const work = async () => {
      expect(++inside).toBe(1);
      await new Promise(setImmediate);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 10 }, () => withLock(lock, work)));
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes over from one that died while it took over', async () => {
    const dead = { ...createOwner(), pid: nobody };
    writeFileSync(lock, toOwnerText(dead));
    writeFileSync(`${lock}.${dead.token.slice(0, 8)}`, toOwnerText({ ...createOwner(), pid: nobody }));
    expect(await withLock(lock, () => 'mine')).toBe('mine');
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ['on another machine', { boot: 'other', host: 'other' }],
    ['in another container', { namespace: 'pid:[1]', pid: nobody }],
  ])('waits for a holder %s until the lock is old', async (_what, change) => {
    hold(change);
    await expect(withLock(lock, () => 1, { timeoutMs: 5 })).rejects.toMatchObject({ code: 'store/locked' });
    utimesSync(lock, 1, 1);
    expect(await withLock(lock, () => 'mine')).toBe('mine');
  });

  it('waits for a lock it cannot read until it is old', async () => {
    writeFileSync(lock, '');
    await expect(withLock(lock, () => 1, { timeoutMs: 5 })).rejects.toMatchObject({ code: 'store/locked' });
    utimesSync(lock, 1, 1);
    expect(await withLock(lock, () => 'mine')).toBe('mine');
  });
});

describe('withLock for long work', () => {
  /** Seconds ago, as the lock of a holder that cannot be seen from here. */
  const holdElsewhere = (seconds: number) => {
    hold({ boot: 'other', host: 'other' });
    utimesSync(lock, Date.now() / 1000 - seconds, Date.now() / 1000 - seconds);
  };

  it('renews the lock while the work goes on', async () => {
    vi.useFakeTimers();
    try {
      await withLock(
        lock,
        () => {
          utimesSync(lock, 1, 1);
          vi.advanceTimersByTime(20_000);
          expect(statSync(lock).mtimeMs).toBeGreaterThan(1000);
        },
        { long: true },
      );
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('takes the lock of a holder elsewhere that has not renewed it for minutes', async () => {
    holdElsewhere(150);
    expect([isLocked(lock), isLocked(lock, { long: true })]).toEqual([true, false]);
    await expect(withLock(lock, () => 1, { timeoutMs: 0 })).rejects.toMatchObject({ code: 'store/locked' });
    expect(await withLock(lock, () => 'mine', { timeoutMs: 0, long: true })).toBe('mine');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says at once who is at it, and at what', async () => {
    hold({});
    expect(isLocked(lock)).toBe(true);
    await expect(withLock(lock, () => 1, { timeoutMs: 0, long: true, purpose: 'unpack to "x"' })).rejects.toMatchObject({
      code: 'store/locked',
      message: `Cannot unpack to "x": process ${process.pid} holds "${lock}"`,
    });
  });

  it('waits as long as the holder lives, and takes over when it dies', async () => {
    hold({});
    const waiting = withLock(lock, () => 'mine', { timeoutMs: Infinity, long: true });
    setImmediate(() => hold({ pid: nobody }));
    expect(await waiting).toBe('mine');
  });

  it('stops waiting when it is cancelled', async () => {
    hold({});
    const abort = new AbortController();
    const waiting = withLock(lock, () => 1, { timeoutMs: Infinity, long: true, signal: abort.signal });
    setImmediate(() => abort.abort());
    await expect(waiting).rejects.toMatchObject({ code: 'core/cancelled' });
    expect(existsSync(lock)).toBe(true);
  });

  it('is not locked when there is no lock, or that of a dead process', () => {
    expect(isLocked(lock)).toBe(false);
    hold({ pid: nobody });
    expect(isLocked(lock, { long: true })).toBe(false);
  });
});

describe('owner', () => {
  it('survives being written down', () => {
    const owner = createOwner();
    expect(parseOwner(toOwnerText(owner))).toEqual(owner);
    expect(lifeOf(owner)).toBe('alive');
  });

  it.each(['', '{', 'null', '{"pid":1}', '{"pid":"1","token":"0123456789abcdef"}', '{"pid":1,"token":"../../../../etc"}'])(
    'is not read from %j',
    (text) => {
      expect(parseOwner(text)).toBeUndefined();
    },
  );
});
