/** Cartons that run, and their self tests: what is asked, what is refused, and what a script can read. */
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/ops/index.js';
import { type CartonBench, createCartonBench, floatsNpy } from '../support/carton-bench.js';
import { minimalToml, withManifest } from '../support/carton-files.js';
import { createMemoryStream } from '../support/memory-io.js';
import { type FileMap, listFiles } from '../support/workbench.js';

let bench: CartonBench;
beforeEach(() => {
  bench = createCartonBench();
});
afterEach(() => bench.close());

const tensor = (side: string, name: string, dtype: string, shape: string) =>
  `[[${side}]]\nname = "${name}"\ndtype = "${dtype}"\nshape = ${shape}\n\n`;
const both = (name: string, dtype: string, shape: string) => tensor('input', name, dtype, shape) + tensor('output', name, dtype, shape);
const noop = '[run]\nruntime = "noop"\nversion = "*"\n';
/** Two that share a symbol, and texts of any shape. */
const declared = both('pixels', 'float32', '["batch", 2]') + both('ids', 'int64', '["batch"]') + both('words', 'string', '"*"');
const model = (toml: string, files: FileMap = {}): FileMap => ({ 'modelport.toml': toml + noop, 'net.bin': 'x', ...files });
const good = ['-i', 'pixels=[[1,2]]', '-i', 'ids=[5]', '-i', 'words="hi"'] as const;

describe('run', () => {
  const packed = () => bench.pack('echo', model(declared));

  it('takes JSON, .npy, .json and .bin, by name', async () => {
    await packed();
    bench.write('.', {
      'x.npy': floatsNpy([2, 2], 1, 2, 3, 4),
      'x.json': '[[1,2],[3,4]]',
      'x.bin': Buffer.from(new Float32Array([1, 2, 3, 4]).buffer),
    });
    for (const value of ['[[1,2],[3,4]]', '@x.npy', '@x.json', '@x.bin']) {
      const { code, document } = await bench.json('run', 'echo.carton', '-i', `pixels=${value}`, '-i', 'ids=[5, 6]', '-i', 'words=["a","ü"]');
      expect({ value, code, document }).toMatchObject({
        value,
        code: 0,
        document: {
          runtime: { name: 'noop' },
          items: 1,
          outputs: [
            { name: 'pixels', datatype: 'FP32', shape: [2, 2], data: [1, 2, 3, 4] },
            { name: 'ids', datatype: 'INT64', shape: [2], data: [5, 6] },
            { name: 'words', datatype: 'BYTES', shape: [2], data: ['a', 'ü'] },
          ],
          findings: [],
        },
      });
    }
  });

  it('takes bare values in declared order, and not both', async () => {
    await packed();
    expect(await bench.json('run', 'echo.carton', '[[1,2]]', '[5]', '"hi"')).toMatchObject({
      code: 0,
      document: { outputs: [{ data: [1, 2] }, { data: [5] }, { data: ['hi'] }] },
    });
    expect(await bench.json('run', 'echo.carton', '[[1,2]]', '-i', 'ids=[5]')).toMatchObject({
      code: 2,
      document: { error: { code: 'ops/bad-option' } },
    });
    expect(await bench.json('run', 'echo.carton', '[[1,2]]')).toMatchObject({
      code: 1,
      document: { error: { message: expect.stringContaining('"ids"') } },
    });
  });

  it('keeps integers beyond 2^53 exact, in and out', async () => {
    await packed();
    const { code, stdout } = await bench.run(
      'run',
      'echo.carton',
      '-i',
      'pixels=[[1,2]]',
      '-i',
      'ids=[9223372036854775807]',
      '-i',
      'words="x"',
      '--json',
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining('9223372036854775807')]);
  });

  it.each<[string, readonly string[], number, RegExp]>([
    ['an input that is not declared', ['-i', 'pixel=[[1,2]]'], 1, /"pixel".*"pixels"/s],
    ['an input too few', ['-i', 'pixels=[[1,2]]', '-i', 'ids=[5]'], 1, /"words".*found none/s],
    ['another shape', ['-i', 'pixels=[[1,2,3]]', '-i', 'ids=[5]', '-i', 'words="x"'], 1, /"pixels".*2/s],
    ['a symbol with two values', ['-i', 'pixels=[[1,2]]', '-i', 'ids=[5,6]', '-i', 'words="x"'], 1, /"ids".*batch/s],
    ['text for numbers', ['-i', 'pixels="x"', '-i', 'ids=[5]', '-i', 'words="x"'], 1, /pixels/],
    ['another dtype', ['-i', 'pixels=[[1,2]]', '-i', 'ids=@x.npy', '-i', 'words="x"'], 1, /"ids".*int64/s],
    ['what is no JSON', ['-i', 'pixels=[[1,2', '-i', 'ids=[5]', '-i', 'words="x"'], 1, /pixels/],
    ['a file that is not there', ['-i', 'pixels=@none.npy'], 3, /none\.npy/],
    ['a file of another kind', ['-i', 'pixels=@net.txt'], 2, /\.npy, \.json or \.bin/],
    ['a word without a name', ['-i', '[[1,2]]'], 2, /NAME=VALUE/],
  ])('refuses %s', async (_, args, status, text) => {
    await packed();
    bench.write('.', { 'x.npy': floatsNpy([1], 5), 'net.txt': '' });
    const { code, stdout, stderr } = await bench.run('run', 'echo.carton', ...args);
    expect([code, stdout, stderr]).toEqual([status, '', expect.stringMatching(text)]);
  });

  it('writes the answer to files', async () => {
    await packed();
    const { code, document } = await bench.json('run', 'echo.carton', ...good, '-o', 'answer');
    expect([code, document.files]).toEqual([0, ['pixels.npy', 'ids.npy', 'words.json'].map((name) => bench.path('answer', name))]);
    expect(readFileSync(bench.path('answer/pixels.npy'))).toEqual(Buffer.from(floatsNpy([1, 2], 1, 2)));
    expect(JSON.parse(readFileSync(bench.path('answer/words.json'), 'utf8'))).toMatchObject({ dtype: 'string', data: ['hi'] });
    expect(
      (await bench.run('run', 'echo.carton', '-i', 'pixels=@answer/pixels.npy', '-i', 'ids=@answer/ids.npy', '-i', 'words=@answer/words.json')).code,
    ).toBe(0);
  });

  it('options are TOML; one that the runner does not know is a warning, on stderr and in the document', async () => {
    await packed();
    const { code, stderr } = await bench.run(
      'run',
      'echo.carton',
      ...good,
      '--opt',
      'threads=2',
      '--opt',
      'name=some_word',
      '--opt',
      'big=9007199254740993',
    );
    expect([code, stderr]).toEqual([0, expect.stringMatching(/"threads".*"name".*"big"/s)]);
    expect((await bench.json('run', 'echo.carton', ...good, '--opt', 'threads=2')).document.findings).toMatchObject([
      { level: 'warning', code: 'runtime/unknown-option', where: 'threads' },
    ]);
    for (const opt of ['threads', 'threads=[1]', 'threads=two words'])
      expect(await bench.run('run', 'echo.carton', ...good, '--opt', opt)).toMatchObject({ code: 2, stderr: expect.stringContaining('--opt') });
  });

  it('a bare folder with a runner and a version', async () => {
    bench.write('bare', { 'net.bin': 'x' });
    const before = listFiles(bench.path('bare'));
    const { code, document } = await bench.json('run', './bare', '--runner', 'noop', '--framework-version', '*', '-i', 'x=[1, 2.5]');
    expect([code, document['outputs']]).toMatchObject([0, [{ name: 'x', shape: [2], data: [1, 2.5] }]]);
    expect(listFiles(bench.path('bare'))).toEqual(before);
    expect(await bench.json('run', './bare', '-i', 'x=1')).toMatchObject({
      code: 3,
      document: { error: { code: 'runtime/no-runtime', hint: expect.stringMatching(/--runner/) } },
    });
  });

  it('a carton without a file in model/', async () => {
    bench.write('empty', withManifest({ 'carton.toml': minimalToml }) as FileMap);
    expect(await bench.json('run', './empty', '-i', 'x=[1]')).toMatchObject({ code: 0, document: { outputs: [{ data: [1] }] } });
  });

  it('leaves nothing in TMPDIR', async () => {
    await packed();
    bench.write('tmp', {});
    expect((await bench.runIn({ env: { TMPDIR: bench.path('tmp') } }, 'run', 'echo.carton', ...good)).code).toBe(0);
    expect(listFiles(bench.path('tmp'))).toEqual([]);
  });
});

describe('what may not run here', () => {
  const python = {
    'main.py': 'def get_model(): pass\n',
    'modelport.toml': '[run]\nruntime = "python"\nversion = "=2.1"\nentrypoint = "main:get_model"\n',
  };

  it('code of a package without consent: 3, and it says what would run', async () => {
    await bench.pack('code', python);
    for (const verb of ['run', 'test'] as const) {
      const options = verb === 'run' ? ['-i', 'x=1'] : [];
      const { code, document } = await bench.json(verb, 'code.carton', ...options);
      if (verb === 'run')
        expect([code, document.error]).toMatchObject([
          3,
          {
            code: 'runtime/no-consent',
            message: expect.stringMatching(/Python code \(main:get_model\)/),
            hint: expect.stringContaining('--allow-code'),
          },
        ]);
      else expect([code, document.findings]).toMatchObject([0, [{ code: 'test/no-tests' }]]);
    }
    for (const flag of ['--allow-code', '-y'])
      expect(await bench.json('run', 'code.carton', '-i', 'x=1', flag)).toMatchObject({
        code: 3,
        document: { error: { code: 'runtime/not-available', message: expect.stringMatching(/no Python|=2\.1/) } },
      });
  });

  it('a person is asked, once, and may say no', async () => {
    await bench.pack('code', python);
    const asked: string[] = [];
    const answer = (yes: boolean) => async (question: string) => {
      asked.push(question);
      return yes;
    };
    const context = bench.context();
    const ask = (yes: boolean) => run({ location: 'code.carton', inputs: ['x=1'], allowCode: answer(yes) }, context);
    await expect(ask(false)).rejects.toMatchObject({ code: 'runtime/no-consent', exitCode: 3 });
    await expect(ask(true)).rejects.toMatchObject({ code: 'runtime/not-available' });
    await context.close();
    expect(asked).toEqual([expect.stringMatching(/Python.*code\.carton/), expect.any(String)]);
  });

  it('and what it is asked holds no control character of the package', async () => {
    const toml = minimalToml.replace('"noop"', '"python"');
    await bench.pack('evil', {
      'carton.toml': `${toml}\n[runner.opts]\nentrypoint_package = "main"\nentrypoint_fn = "a\\u001b[2J"\n`,
      'main.py': '',
    });
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
    const stderr = createMemoryStream({});
    const write = stderr.write.bind(stderr);
    const answering = Object.assign(stderr, {
      write: (...args: Parameters<typeof write>) => {
        if (args[0].includes('whatever you can do')) setImmediate(() => stdin.write('n'));
        return write(...args);
      },
    });
    const { code, stderr: said } = await bench.runIn({ stdin, stderr: answering }, 'run', 'evil.carton', '-i', 'x=1', '--color', 'never');
    expect([code, said]).toEqual([3, expect.stringMatching(/main:a.*2J.*evil\.carton.*without consent/s)]);
    expect(said).not.toContain('a\u001b[2J');
  });

  it('another platform: 3, unless one insists', async () => {
    const toml = `[format.carton]\nrequired_platforms = ["riscv64gc-unknown-linux-gnu"]\n\n`;
    await bench.pack('far', model(toml));
    const { code, document } = await bench.json('run', 'far.carton', '-i', 'x=1');
    expect([code, document.error]).toMatchObject([
      3,
      { code: 'runtime/wrong-platform', message: expect.stringContaining('riscv64gc-unknown-linux-gnu') },
    ]);
    expect(await bench.json('run', 'far.carton', '-i', 'x=1', '--any-platform')).toMatchObject({ code: 0, document: { outputs: [{ data: [1] }] } });
    expect((await bench.json('inspect', 'far.carton')).code).toBe(0);
  });

  it.each<[string, FileMap, string, RegExp]>([
    ['a runner that we do not have', { 'carton.toml': 'runner_name = "rust-bert"' }, 'runtime/no-runtime', /rust-bert/],
    ['a layout of another version', { 'carton.toml': 'runner_name = "noop"\nrunner_compat_version = 2' }, 'runtime/not-available', /2/],
  ])('%s: 3', async (_, files, error, text) => {
    const toml = `spec_version = 1\n\n[runner]\nrequired_framework_version = "*"\n${files['carton.toml'] as string}\n`;
    await bench.pack('odd', { 'carton.toml': toml.includes('compat') ? toml : `${toml}runner_compat_version = 1\n`, 'net.bin': 'x' });
    const { code, document } = await bench.json('run', 'odd.carton', '-i', 'x=1');
    expect([code, document.error]).toMatchObject([3, { code: error, message: expect.stringMatching(text), hint: expect.any(String) }]);
  });

  it('another runner takes its place when it is named', async () => {
    await bench.pack('code', python);
    expect(await bench.json('run', 'code.carton', '--runner', 'noop', '-i', 'x=1')).toMatchObject({
      code: 0,
      document: {
        runtime: { name: 'noop' },
        findings: expect.arrayContaining([expect.objectContaining({ level: 'warning', code: 'runtime/overridden' })]),
      },
    });
    expect(await bench.json('run', 'code.carton', '--allow-code', '--framework-version', '=99.0', '-i', 'x=1')).toMatchObject({
      code: 3,
      document: { error: { code: 'runtime/not-available' } },
    });
    expect(await bench.json('run', 'code.carton', '--runner', 'nop', '-i', 'x=1')).toMatchObject({
      code: 3,
      document: { error: { code: 'runtime/no-runtime' } },
    });
  });
});

describe('test', () => {
  const selfTest = (name: string, expected: string, more = '') => `[[self_test]]\nname = "${name}"\ninputs = { x = "a.npy" }\n${expected}${more}\n`;
  const x = both('x', 'float32', '["n"]');
  const tensors = {
    'a.npy': floatsNpy([3], 1, 2, 3),
    'b.npy': floatsNpy([3], 1, 2.5, 3.25),
    'c.npy': floatsNpy([2], 1, 2),
    'near.npy': floatsNpy([3], 1, 2.0001, 3),
  };
  const tested = async (toml: string, ...args: readonly string[]) => {
    await bench.pack('tested', model(toml, tensors));
    return bench.json('test', 'tested.carton', ...args);
  };

  it('passes, and says by how much', async () => {
    const { code, document } = await tested(x + selfTest('same', 'expected = { x = "a.npy" }'));
    expect([code, document]).toMatchObject([
      0,
      {
        passed: 1,
        failed: 0,
        skipped: 0,
        runtime: { name: 'noop' },
        cases: [{ name: 'same', status: 'passed', outputs: [{ name: 'x', status: 'passed', maxAbsError: 0 }] }],
      },
    ]);
  });

  it('fails, and says by how much and where', async () => {
    const { code, document } = await tested(x + selfTest('off', 'expected = { x = "b.npy" }'));
    expect([code, document]).toMatchObject([
      1,
      { passed: 0, failed: 1, cases: [{ status: 'failed', outputs: [{ name: 'x', status: 'failed', maxAbsError: 0.5, at: [1] }] }] },
    ]);
    const { stdout } = await bench.run('test', 'tested.carton');
    expect(stdout).toMatch(/failed +off\n +x: 2 of 3 .*most at \[1\]: expected 2\.5, found 2 \(off by 0\.5, allowed 0\.00002501\)/);
    expect(stdout).toMatch(/0 passed, 1 failed, 0 skipped/);
  });

  it('is as exact as the test says, and the person above it', async () => {
    const toml = x + selfTest('near', 'expected = { x = "near.npy" }') + selfTest('loose', 'expected = { x = "near.npy" }', '\natol = 0.001');
    expect(await tested(toml)).toMatchObject({ code: 1, document: { passed: 1, failed: 1 } });
    expect(await bench.json('test', 'tested.carton', '--atol', '0.01')).toMatchObject({ code: 0, document: { passed: 2 } });
    expect(await bench.json('test', 'tested.carton', '--rtol', '0', '--atol', '0')).toMatchObject({ code: 1, document: { failed: 2 } });
    expect(await bench.json('test', 'tested.carton', '--only', 'loose')).toMatchObject({ code: 0, document: { passed: 1, failed: 0 } });
    expect(await bench.json('test', 'tested.carton', '--only', '1')).toMatchObject({ code: 1, document: { failed: 1, cases: [{ name: 'near' }] } });
    expect(await bench.json('test', 'tested.carton', '--only', 'lose')).toMatchObject({
      code: 2,
      document: { error: { hint: expect.stringContaining('loose') } },
    });
    expect(await bench.run('test', 'tested.carton', '--atol', '-1')).toMatchObject({ code: 2 });
  });

  it('another shape fails, whatever the tolerance', async () => {
    expect(await tested(x + selfTest('cut', 'expected = { x = "c.npy" }'), '--atol', '1e9')).toMatchObject({
      code: 1,
      document: { failed: 1, cases: [{ outputs: [{ status: 'failed', message: expect.stringMatching(/\[2\].*\[3\]|\[3\].*\[2\]/) }] }] },
    });
  });

  it('of inputs that are not as declared it runs, fails, and says both', async () => {
    const wide = both('x', 'float64', '["n"]');
    expect(await tested(wide + selfTest('odd', 'expected = { x = "a.npy" }'))).toMatchObject({
      code: 1,
      document: {
        passed: 0,
        failed: 1,
        cases: [
          {
            outputs: [{ name: 'x', status: 'passed' }],
            message: expect.stringMatching(/input "x".*float64.*float32/),
            findings: expect.arrayContaining([expect.objectContaining({ code: 'runtime/bad-input' })]),
          },
        ],
      },
    });
  });

  it('without an expectation it ran, and is skipped; nothing compared is nothing passed', async () => {
    expect(await tested(x + selfTest('ran', ''))).toMatchObject({
      code: 0,
      document: { passed: 0, skipped: 1, cases: [{ status: 'skipped', message: expect.stringMatching(/does not say/) }] },
    });
    expect((await bench.run('test', 'tested.carton')).stdout).toMatch(/Nothing compared/);
    expect(await tested(x)).toMatchObject({
      code: 0,
      document: { passed: 0, failed: 0, cases: [], findings: [{ level: 'warning', code: 'test/no-tests' }] },
    });
  });

  it('a missing output fails by name, one too many is a warning', async () => {
    const missing = await tested(
      both('x', 'float32', '["n"]') + tensor('output', 'z', 'float32', '["n"]') + selfTest('less', 'expected = { x = "a.npy", z = "a.npy" }'),
    );
    expect(missing).toMatchObject({
      code: 1,
      document: {
        cases: [
          {
            status: 'failed',
            outputs: [
              { name: 'x', status: 'passed' },
              { name: 'z', status: 'failed', message: expect.stringMatching(/missing output "z"/) },
            ],
          },
        ],
      },
    });
    const toml = `${x}${both('y', 'float32', '["n"]')}[[self_test]]\nname = "more"\ninputs = { x = "a.npy", y = "a.npy" }\nexpected = { x = "a.npy" }\n`;
    const { code, document } = await tested(toml);
    expect([code, document]).toMatchObject([0, { passed: 1, cases: [{ findings: [{ level: 'warning', code: 'test/extra-output', where: 'y' }] }] }]);
  });

  it('an input that breaks what is declared fails its own test and no other', async () => {
    const toml = `${both('x', 'float32', '[3]')}${selfTest('good', 'expected = { x = "a.npy" }')}[[self_test]]\nname = "bad"\ninputs = { x = "c.npy" }\n\n`;
    expect(await tested(toml)).toMatchObject({
      code: 1,
      document: {
        passed: 1,
        failed: 1,
        cases: [
          { name: 'good', status: 'passed' },
          { name: 'bad', status: 'failed', message: expect.stringMatching(/"x".*3/) },
        ],
      },
    });
  });

  it('of a folder runs before it is packed', async () => {
    bench.write('plain', model(x + selfTest('same', 'expected = { x = "a.npy" }'), tensors));
    expect(await bench.json('test', './plain')).toMatchObject({ code: 0, document: { passed: 1 } });
  });
});
