import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeBytes } from '../../test/support/distant-blob.js';
import { createCounters } from '../core/index.js';
import { openFileRanges } from './file-ranges.js';
import { collect, drain } from './streams.js';

const bytes = makeBytes(1_000_000);
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'modelport-ranges-'));
  path = join(folder, 'file');
  writeFileSync(path, bytes);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('reads and streams any part, and counts it', async () => {
  const counters = createCounters();
  const ranges = await openFileRanges(path, counters);
  expect(ranges.size).toBe(bytes.length);
  expect(bytes.subarray(10, 20).equals(await ranges.read(10, 10))).toBe(true);
  for (const [start, end] of [
    [0, 5],
    [7, 7],
    [100, 900_000],
    [999_999, undefined],
    [0, undefined],
  ] as const) {
    const range = end === undefined ? { start } : { start, end };
    expect(bytes.subarray(start, end).equals(await collect(await ranges.stream(range), 1e7, 'part'))).toBe(true);
  }
  expect(counters.read).toBe(10 + 5 + 899_900 + 1 + 1_000_000);
  await ranges.close();
});

it('refuses what is beyond the end', async () => {
  const ranges = await openFileRanges(path);
  await expect(ranges.stream({ start: 0, end: bytes.length + 1 })).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
  await expect(ranges.stream({ start: bytes.length + 1 })).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
  await expect(ranges.read(bytes.length - 1, 2)).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
  await ranges.close();
});

it.each(['replaced', 'cut off'])('says when the file was %s meanwhile', async (how) => {
  const ranges = await openFileRanges(path);
  writeFileSync(`${path}.new`, how === 'replaced' ? bytes.map((byte) => byte ^ 1) : bytes.subarray(0, 500_000));
  renameSync(`${path}.new`, path);
  await expect(ranges.stream({ start: 0 }).then(drain)).rejects.toMatchObject({ code: 'bytes/file-changed' });
  await ranges.close();
});

it('says what is not there', async () => {
  await expect(openFileRanges(join(folder, 'none'))).rejects.toMatchObject({ code: 'bytes/not-found' });
});
