import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createError } from '../core/index.js';
import { withFolderLock } from './folder-lock.js';

let base: string;
let lock: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'folder-lock-'));
  lock = join(base, 'deep', 'work', 'lock');
});
afterEach(() => rmSync(base, { recursive: true }));

const make = () => void mkdirSync(dirname(lock), { recursive: true });

describe('withFolderLock', () => {
  it('makes the folder and takes it away again', async () => {
    expect(await withFolderLock(lock, make, () => existsSync(lock), {})).toBe(true);
    expect(existsSync(dirname(lock))).toBe(false);
  });

  it('leaves a folder that holds something', async () => {
    await withFolderLock(lock, make, () => writeFileSync(join(dirname(lock), 'kept'), ''), {});
    expect(existsSync(lock)).toBe(false);
    expect(existsSync(join(dirname(lock), 'kept'))).toBe(true);
  });

  it('lets one in at a time, while the folder comes and goes', async () => {
    let inside = 0;
    const work = async () => {
      expect(++inside).toBe(1);
      await new Promise(setImmediate);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 20 }, () => withFolderLock(lock, make, work, {})));
    expect(existsSync(dirname(lock))).toBe(false);
  });

  it('makes the folder again when another removes it too early', async () => {
    let made = 0;
    const makeLate = () => void (++made > 3 && make());
    expect(await withFolderLock(lock, makeLate, () => 'inside', {})).toBe('inside');
    expect(made).toBe(4);
    await expect(
      withFolderLock(
        lock,
        () => {},
        () => 1,
        {},
      ),
    ).rejects.toMatchObject({ code: 'bytes/not-found' });
  });

  it('does not repeat work that fails', async () => {
    let runs = 0;
    const work = () => {
      runs += 1;
      throw createError('bytes/not-found', { message: 'Cannot find it' });
    };
    await expect(withFolderLock(lock, make, work, {})).rejects.toMatchObject({ message: 'Cannot find it' });
    expect(runs).toBe(1);
  });
});
