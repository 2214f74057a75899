import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundleProgram, runProgram } from '../../test/support/run-program.js';
import { defaultLimits, silentProgress } from '../core/index.js';
import { verifyGraph } from '../oci/index.js';
import { openLocalStore, prune } from './index.js';

let bundles: string;
let program: string;
beforeAll(() => {
  bundles = mkdtempSync(join(tmpdir(), 'store-program-'));
  program = bundleProgram('store-program', bundles);
});
afterAll(() => rmSync(bundles, { recursive: true }));

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'store-processes-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** Names in the store, after every byte behind each was held against its digest. */
async function verifyAll(): Promise<string[]> {
  const store = await openLocalStore({ home });
  const roots = await store.list();
  for (const { descriptor } of roots) {
    const { problems } = await verifyGraph(descriptor, store, { limits: defaultLimits, progress: silentProgress, concurrency: 2 });
    expect(problems).toEqual([]);
  }
  return roots.flatMap(({ name }) => name ?? []);
}

/** What nobody can be asked about any more, such as a file that was to hold the number of its process, is cleared away when it is old. */
function ageTree(): void {
  for (const path of readdirSync(home, { recursive: true })) utimesSync(join(home, String(path)), 1, 1);
}

const done = { code: 0, signal: null, stderr: '' };

describe('several processes at one store', () => {
  it('lose no name when 10 of them set 20 each', async () => {
    const runs = Array.from({ length: 10 }, (_, worker) => runProgram(program, ['tag', home, `w${worker}`, '20']));
    expect(await Promise.all(runs)).toEqual(runs.map(() => done));
    const store = await openLocalStore({ home });
    expect(await store.list()).toHaveLength(200);
    expect(readdirSync(home).toSorted()).toEqual(['blobs', 'index.json', 'oci-layout']);
  });

  it('pack while others prune, and every package is whole', async () => {
    const packers = ['a', 'b', 'c'].map((name) => runProgram(program, ['pack', home, name, '12']));
    const pruners = [1, 2].map(() => runProgram(program, ['prune', home, '', '40']));
    expect(await Promise.all([...packers, ...pruners])).toEqual(Array.from({ length: 5 }, () => done));
    expect(await verifyAll()).toHaveLength(36);
  });

  it('are killed at any time, and what has a name is whole', async () => {
    const survivors: number[] = [];
    for (let round = 0; round < 10; round++) {
      const killAt = 1 + Math.floor(Math.random() * 30);
      const { signal } = await runProgram(
        program,
        ['pack', home, `killed${round}`, '1000'],
        (child, lines) => lines >= killAt && child.kill('SIGKILL'),
      );
      expect(signal).toBe('SIGKILL');
      survivors.push((await verifyAll()).length);
    }
    expect(survivors).toEqual(survivors.toSorted((a, b) => a - b));
    expect(await runProgram(program, ['pack', home, 'after', '2'])).toEqual(done);
    expect(await verifyAll()).toEqual(expect.arrayContaining(['after:0', 'after:1']));
    ageTree();
    await prune(await openLocalStore({ home }));
    expect(readdirSync(home).toSorted()).toEqual(['blobs', 'index.json', 'oci-layout']);
    expect((await verifyAll()).length).toBe((survivors.at(-1) ?? 0) + 2);
  });
});
