import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RawEntry, rawTar } from '../../../test/support/raw-tar.js';
import { defaultLimits } from '../../core/index.js';
import { Staging } from './staging.js';
import { fromBytes } from '../streams.js';
import { UnpackJob } from './unpack-job.js';
import { unpackParts } from './unpack-parts.js';

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'unpack-parts-'));
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

/** As on a disk that takes `A` and `a` for one name. */
async function unpackFolding(...entries: RawEntry[]): Promise<void> {
  const staging = new Staging(join(base, 'target'));
  const job = new UnpackJob(staging, join(base, 'target'), true, { policy: 'package', limits: defaultLimits });
  try {
    await unpackParts([{ kind: 'tar', where: 'model.tar', open: async () => fromBytes(rawTar(...entries)) }], job);
    job.makeLinks();
  } finally {
    await staging.discard(false);
    expect(readdirSync(base)).toEqual([]);
  }
}

describe('unpackParts on a disk that folds names', () => {
  it.each([
    ['A', 'a'],
    ['ß', 'ss'],
    ['\u212a', 'k'],
    ['\u00e9', 'e\u0301'],
    ['L/x', 'l'],
    ['Foo/a', 'foo/b'],
  ])('A10, A11: refuses %s beside %s', async (first, second) => {
    await expect(unpackFolding({ name: first }, { name: second })).rejects.toMatchObject({
      code: 'bytes/refused-entry',
      message: expect.stringMatching(/this disk cannot tell/),
    });
  });

  it('sees a link out through a link that is spelled otherwise', async () => {
    await expect(
      unpackFolding({ name: 'd/e/L', type: '2', linkName: '../..' }, { name: 'd/e/m', type: '2', linkName: 'l/../x' }),
    ).rejects.toMatchObject({ message: expect.stringMatching(/"d\/e\/m".*leads out/) });
  });

  it('takes the rest', async () => {
    await unpackFolding({ name: 'A/b' }, { name: 'A/c' }, { name: 'a.b' });
    expect(existsSync(join(base, 'target'))).toBe(false);
  });
});
