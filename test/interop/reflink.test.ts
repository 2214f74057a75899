import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Modelport } from './support/modelport.js';

const work = mkdtempSync(join(tmpdir(), 'modelport-reflink-'));
const disk = join(work, 'disk');
const imageBytes = 400 * 1024 * 1024;
const weightBytes = 48 * 1024 * 1024;

/** XFS shares blocks between files; the smallest it can be is 300 MiB, which the image does not take up. */
beforeAll(() => {
  const image = join(work, 'image');
  writeFileSync(image, '');
  truncateSync(image, imageBytes);
  execFileSync('mkfs.xfs', ['-q', image]);
  mkdirSync(disk);
  execFileSync('mount', ['-o', 'loop', image, disk]);
  mkdirSync(join(disk, 'model'));
  const header = Buffer.from(JSON.stringify({ w: { dtype: 'U8', shape: [weightBytes], data_offsets: [0, weightBytes] } }).padEnd(120));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(join(disk, 'model', 'model.safetensors'), Buffer.concat([length, header, Buffer.alloc(weightBytes, 'weights')]));
  execFileSync('sync');
});

afterAll(() => {
  execFileSync('umount', [disk]);
  rmSync(work, { recursive: true });
});

function usedBytes(): number {
  const { blocks, bfree, bsize } = statfsSync(disk);
  return (blocks - bfree) * bsize;
}

describe('a file system that shares blocks', () => {
  it('keeps a packed weight without writing it again', () => {
    const modelport = new Modelport(join(disk, 'home'));
    const before = usedBytes();
    modelport.must(['pack', join(disk, 'model'), '-t', 'demo/shared:v1']);
    execFileSync('sync');
    expect(usedBytes() - before).toBeLessThan(weightBytes / 4);
    expect(modelport.json(['verify', 'demo/shared:v1'])).toMatchObject({ ok: true });
  });

  it('does not show in the package what is written to the file afterwards', () => {
    const modelport = new Modelport(join(disk, 'home'));
    writeFileSync(join(disk, 'model', 'model.safetensors'), 'other bytes', { flag: 'r+' });
    expect(modelport.json(['verify', 'demo/shared:v1'])).toMatchObject({ ok: true });
  });
});
