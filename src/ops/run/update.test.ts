import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { numeric } from '../../../test/support/tensors.js';
import { createWorkbench, type FileMap, listFiles, readTree, type Workbench } from '../../../test/support/workbench.js';
import { writeNpy } from '../../tensors/index.js';
import { pack } from '../pack.js';
import type { TestCaseResult } from '../results.js';
import { test, type TestOptions } from './test.js';

const declared = ['input', 'output'].map((side) => `[[${side}]]\nname = "x"\ndtype = "float32"\nshape = ["batch"]\n`).join('\n');
const toml = `# Mine
${declared}
[[self_test]] # first
name = "right"
inputs = { x = "tests/x.npy" }
expected = { x = "tests/right.npy" }

[[self_test]]
name = "wrong"
inputs = { x = "tests/x.npy" }
expected = { x = "tests/wrong.npy" }

[[self_test]] # nothing expected
name = "open"
[self_test.inputs]
x = "tests/x.npy"

[run]
runtime = "noop"
version = "=1.0.0"
`;
const npy = (...values: number[]) => writeNpy(numeric('float32', [values.length], values));
const model: FileMap = {
  'modelport.toml': toml,
  'model.bin': 'weights',
  'tests/x.npy': npy(1, 2),
  'tests/right.npy': npy(1, 2),
  'tests/wrong.npy': npy(1, 4),
};

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => {
  bench.close();
});

async function check(options: Partial<TestOptions> = {}) {
  const context = bench.context();
  try {
    return await test({ location: bench.path('model'), ...options }, context);
  } finally {
    await context.close();
  }
}

async function makeCarton(): Promise<string> {
  const context = bench.context();
  const output = bench.path('one.carton');
  await pack({ dir: bench.write('model', model), format: 'carton', output }, context);
  await context.close();
  return output;
}

describe('test --record', () => {
  it('gives a test without expectation what came out, in the place of the test', async () => {
    const folder = bench.write('model', model);
    const result = await check({ record: true });
    expect(result).toMatchObject({ passed: 1, failed: 1, skipped: 1, written: { samples: ['open'], files: ['tests/open/expected/x.npy'] } });
    expect(result.cases.map(({ kept }) => kept)).toEqual([undefined, undefined, true]);
    expect(readFileSync(join(folder, 'modelport.toml'), 'utf8')).toBe(
      toml.replace('# nothing expected\n', '# nothing expected\nexpected = { x = "tests/open/expected/x.npy" }\n'),
    );
    expect(await check()).toMatchObject({ passed: 2, failed: 1, skipped: 0 });
  });

  it('says when there is nothing to be kept', async () => {
    const folder = bench.write('model', model);
    const before = readTree(folder);
    const result = await check({ record: true, only: ['right'] });
    expect(result.written).toBeUndefined();
    expect(result.findings).toEqual([expect.objectContaining({ level: 'note', code: 'test/nothing-written' })]);
    expect(readTree(folder)).toEqual(before);
  });

  it('refuses a build file that cannot be added to, and leaves it', async () => {
    const tests = 'self_test = [{ name = "open", inputs = { x = "tests/x.npy" } }]\n';
    const folder = bench.write('model', { ...model, 'modelport.toml': `${tests}${declared}[run]\nruntime = "noop"\n` });
    const before = readTree(folder);
    await expect(check({ record: true })).rejects.toMatchObject({ code: 'ops/refused' });
    expect(readTree(folder)).toEqual(before);
  });

  it('writes a new carton', async () => {
    const location = await makeCarton();
    const to = bench.path('two.carton');
    expect(await check({ location, record: true, to })).toMatchObject({ written: { samples: ['open'], path: to } });
    expect(await check({ location: to })).toMatchObject({ passed: 2, failed: 1, skipped: 0 });
    await expect(check({ location, record: true })).rejects.toMatchObject({ code: 'ops/bad-option' });
    await expect(check({ location, to })).rejects.toMatchObject({ code: 'ops/bad-option' });
  });
});

describe('test --update', () => {
  it('shows what failed, and replaces it when somebody says so', async () => {
    const folder = bench.write('model', model);
    const shown: TestCaseResult[] = [];
    const update = async (failed: readonly TestCaseResult[]) => shown.push(...failed) > 0;
    const result = await check({ update });
    expect(shown).toMatchObject([{ name: 'wrong', outputs: [{ name: 'x', maxAbsError: 2, at: [1] }] }]);
    expect(result).toMatchObject({ failed: 1, written: { samples: ['wrong'], files: ['tests/wrong.npy'] } });
    expect(readFileSync(join(folder, 'tests/wrong.npy')).equals(npy(1, 2))).toBe(true);
    expect(readFileSync(join(folder, 'modelport.toml'), 'utf8')).toBe(toml);
    expect(await check()).toMatchObject({ passed: 2, failed: 0 });
  });

  it('changes nothing when the answer is no', async () => {
    const folder = bench.write('model', model);
    const before = readTree(folder);
    const result = await check({ update: async () => false });
    expect(result.cases.some(({ kept }) => kept)).toBe(false);
    expect(result.findings).toContainEqual(expect.objectContaining({ message: 'Nothing was changed' }));
    expect(readTree(folder)).toEqual(before);
  });

  it('asks nobody when nothing failed', async () => {
    bench.write('model', model);
    const update = async (): Promise<boolean> => {
      throw new Error('asked');
    };
    expect(await check({ update, only: ['right'] })).toMatchObject({ passed: 1 });
  });

  it('keeps the form of a file: JSON, bare bytes, one that is gone', async () => {
    const named = (file: string) => ({ ...model, 'modelport.toml': toml.replace('tests/wrong.npy', file) });
    const folder = bench.write('model', { ...named('tests/wrong.json'), 'tests/wrong.json': '[1, 4]' });
    await check({ update: true });
    expect(readFileSync(join(folder, 'tests/wrong.json'), 'utf8')).toBe('{"dtype": "float32", "shape": [2], "data": [1, 2]}\n');
    bench.write('model', { ...named('tests/wrong.bin'), 'tests/wrong.bin': new Uint8Array(8) });
    await check({ update: true });
    expect(readFileSync(join(folder, 'tests/wrong.bin')).toString('hex')).toBe('0000803f00000040');
    bench.write('model', named('gone/away.npy'));
    await check({ update: true });
    expect(listFiles(folder)).toContain('gone/away.npy');
  });

  it('touches no file that something else names', async () => {
    const folder = bench.write('model', { ...model, 'modelport.toml': toml.replace('"tests/right.npy"', '"tests/wrong.npy"') });
    const before = readTree(folder);
    await expect(check({ update: true, only: ['wrong'] })).rejects.toMatchObject({ code: 'ops/refused', where: 'tests/wrong.npy' });
    expect(readTree(folder)).toEqual(before);
  });

  it('does not make an expectation of what breaks the declared interface', async () => {
    const folder = bench.write('model', {
      ...model,
      'modelport.toml': toml.replace('[[output]]\nname = "x"\ndtype = "float32"', '[[output]]\nname = "x"\ndtype = "int64"'),
    });
    const before = readTree(folder);
    const result = await check({ update: true });
    expect(result.findings.filter(({ code }) => code === 'test/not-updated')).toHaveLength(3);
    expect(readTree(folder)).toEqual(before);
  });

  it('writes a new carton, together with --record', async () => {
    const location = await makeCarton();
    const to = bench.path('two.carton');
    expect(await check({ location, record: true, update: true, to })).toMatchObject({ written: { samples: ['open', 'wrong'] } });
    expect(await check({ location: to })).toMatchObject({ passed: 3, failed: 0, skipped: 0 });
    expect(await check({ location })).toMatchObject({ passed: 1, failed: 1, skipped: 1 });
  });
});
