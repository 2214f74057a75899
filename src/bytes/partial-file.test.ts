import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PartialFile } from './partial-file.js';

const limit = 1000;

/** So many bytes are left to the disk's own time. */
const lateBytes = 64 * 1024 * 1024;

function makePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-partial-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'data');
}

describe('a partial file', () => {
  it('that is opened for each of many pieces is synced early as one that stays open', async () => {
    const path = makePath();
    const first = await PartialFile.open(path, limit, { unsynced: lateBytes - 2 });
    await first.write(Buffer.from('a'));
    expect(first.unsynced).toBe(lateBytes - 1);
    await first.close();
    const second = await PartialFile.open(path, limit, { unsynced: first.unsynced });
    await second.write(Buffer.from('b'));
    expect(second.unsynced).toBe(0);
    await second.write(Buffer.from('c'));
    await second.settle();
    expect(second.unsynced).toBe(1);
    await second.close();
    expect(readFileSync(path, 'utf8')).toBe('abc');
  });

  it.each([1, 2, 3, 100])('is whole when %i bytes are written at a time', async (writeBytes) => {
    const path = makePath();
    const file = await PartialFile.open(path, limit, { writeBytes });
    for (const text of ['abc', 'd', '', 'efgh']) await file.write(Buffer.from(text));
    expect(file.size).toBe(8);
    await file.close();
    expect(readFileSync(path, 'utf8')).toBe('abcdefgh');
  });
});
