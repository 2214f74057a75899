import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { temporaryName } from '../durable.js';
import { removeLeftovers } from './leftovers.js';

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'leftovers-'));
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function leave(pid: number): string {
  const path = temporaryName(join(base, 'x')).replace(`-${process.pid}-`, `-${pid}-`);
  mkdirSync(join(path, 'deep'), { recursive: true });
  return basename(path);
}

describe('removeLeftovers', () => {
  it('removes what dead processes left, and nothing else', () => {
    const { pid: dead } = spawnSync(process.execPath, ['--version']);
    const old = leave(dead);
    const kept = [leave(process.pid), leave(process.ppid), '.modelport-x.tmp', 'model'].sort();
    writeFileSync(join(base, '.modelport-x.tmp'), '');
    mkdirSync(join(base, 'model'));
    expect(removeLeftovers(base)).toEqual([old]);
    expect(readdirSync(base).sort()).toEqual(kept);
  });

  it('is content with a folder that is not there', () => {
    expect(removeLeftovers(join(base, 'none'))).toEqual([]);
  });
});
