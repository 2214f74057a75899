import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatFileMetadata, formatTime, parseFileMetadata, parseTime } from './file-metadata.js';

describe('parseFileMetadata', () => {
  const good = { name: 'a.txt', mode: 420, uid: 0, gid: 0, size: 3, mtime: '2021-01-01T00:00:00Z', typeflag: 0 };

  it('understands what formatFileMetadata writes', () => {
    const { metadata, problems } = parseFileMetadata(formatFileMetadata({ name: 'a.txt', mode: 0o644, size: 3, mtime: 1_609_459_200 }));
    expect(metadata).toEqual({ name: 'a.txt', mode: 0o644, uid: 0, gid: 0, size: 3, mtime: 1_609_459_200, kind: 'file' });
    expect(problems).toEqual([]);
  });

  it.each([
    [0, 'file'],
    [48, 'file'],
    [5, 'directory'],
    [53, 'directory'],
    [128, 'directory'],
    [2, 'symlink'],
    [50, 'symlink'],
    [8, 'symlink'],
  ])('takes typeflag %i as %s', (typeflag, kind) => {
    expect(parseFileMetadata(JSON.stringify({ ...good, typeflag })).metadata.kind).toBe(kind);
  });

  it.each([
    ['2025-03-04T05:06:07.123456789+08:00', 1_741_035_967],
    ['2025-03-04t05:06:07z', 1_741_064_767],
    ['0001-01-01T00:00:00Z', -62_135_596_800],
  ])('takes the time %s', (mtime, seconds) => {
    expect(parseFileMetadata(JSON.stringify({ ...good, mtime })).metadata.mtime).toBe(seconds);
  });

  it.each([
    ['mode', '0644'],
    ['mode', -1],
    ['mode', 2 ** 32],
    ['uid', 1.5],
    ['gid', null],
    ['size', 2 ** 53],
    ['mtime', '2025-03-04'],
    ['mtime', 5],
    ['typeflag', 99],
    ['typeflag', '0'],
    ['name', ''],
  ])('leaves out %s %j and says so', (key, value) => {
    const { metadata, problems } = parseFileMetadata(JSON.stringify({ ...good, [key]: value }));
    expect(metadata).not.toHaveProperty(key === 'typeflag' ? 'kind' : key);
    expect(problems).toEqual([expect.stringContaining(`"${key}"`)]);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => Array.isArray(parseFileMetadata(text).problems)),
      { numRuns: 500 },
    );
  });
});

describe('formatTime', () => {
  it('is what parseTime reads', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), (seconds) => parseTime(formatTime(seconds)) === seconds));
  });
});
