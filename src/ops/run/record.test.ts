import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkbench, type FileMap, listFiles, readTree, type Workbench } from '../../../test/support/workbench.js';
import { pack } from '../pack.js';
import { run, type RunOptions } from './run.js';
import { test } from './test.js';

const toml = `# Mine
[package]
name = "same" # kept

[[input]]
name = "x"
dtype = "float32"
shape = ["batch"]

[[output]]
name = "x"
dtype = "float32"
shape = ["batch"]

[run]
runtime = "noop"
version = "=1.0.0"
`;
const model: FileMap = { 'modelport.toml': toml, 'model.bin': 'weights' };

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => {
  bench.close();
});

async function within<T>(action: (context: ReturnType<Workbench['context']>) => Promise<T>): Promise<T> {
  const context = bench.context();
  try {
    return await action(context);
  } finally {
    await context.close();
  }
}

const record = (options: Partial<RunOptions>, location = bench.path('model')) =>
  within((context) => run({ location, inputs: ['x=[1, 2]'], record: 'two', ...options }, context));
const check = (location: string) => within((context) => test({ location }, context));
const makeCarton = (files = model) =>
  within((context) => pack({ dir: bench.write('model', files), format: 'carton', output: bench.path('one.carton') }, context));

describe('run --record in a folder', () => {
  it('adds a self test that passes, and keeps what a person wrote', async () => {
    const folder = bench.write('model', model);
    const { written } = await record({});
    expect(written).toEqual({
      kind: 'self-test',
      samples: ['two'],
      path: join(folder, 'modelport.toml'),
      name: null,
      files: ['tests/two/inputs/x.npy', 'tests/two/expected/x.npy'],
    });
    expect(readFileSync(join(folder, 'modelport.toml'), 'utf8')).toBe(`${toml}
[[self_test]]
name = "two"
description = "Recorded with noop 1.0.0"
inputs = { x = "tests/two/inputs/x.npy" }
expected = { x = "tests/two/expected/x.npy" }
`);
    expect(await check(folder)).toMatchObject({ passed: 1, failed: 0, skipped: 0 });
  });

  it('adds an example, whose tensors are no weights', async () => {
    const folder = bench.write('model', model);
    await record({ recordAs: 'example' });
    expect(readFileSync(join(folder, 'modelport.toml'), 'utf8')).toContain(`[[example]]
name = "two"
description = "Recorded with noop 1.0.0"
inputs = { x = "examples/two/inputs/x.npy" }
sample_out = { x = "examples/two/outputs/x.npy" }
`);
    const packed = await within((context) => pack({ dir: folder, format: 'modelpack', output: bench.path('packed.tar') }, context));
    expect(packed.parts.filter(({ path }) => path.endsWith('.npy')).map(({ role }) => role)).toEqual(['test', 'test']);
  });

  it('makes a modelport.toml where there is none', async () => {
    const folder = bench.write('model', { 'model.bin': 'weights' });
    await record({
      runner: 'noop',
      inputs: ['a/b=["x"]', 'a?b={"dtype": "nested", "shape": [1], "data": [{"dtype": "int64", "shape": [1], "data": [1]}]}'],
      record: '../odd name',
    });
    expect(listFiles(folder)).toEqual([
      'model.bin',
      'modelport.toml',
      'tests/__odd_name/expected/a_b-2.json',
      'tests/__odd_name/expected/a_b.json',
      'tests/__odd_name/inputs/a_b-2.json',
      'tests/__odd_name/inputs/a_b.json',
    ]);
    expect(await within((context) => test({ location: folder, runner: 'noop' }, context))).toMatchObject({ passed: 1, failed: 0 });
  });

  it('keeps CRLF, and takes a folder that nothing has', async () => {
    const folder = bench.write('model', { ...model, 'modelport.toml': toml.replaceAll('\n', '\r\n'), 'tests/two/x': 'else' });
    await record({});
    const text = readFileSync(join(folder, 'modelport.toml'), 'utf8');
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(text).toContain('inputs = { x = "tests/two-2/inputs/x.npy" }\r\n');
    expect(readFileSync(join(folder, 'tests/two/x'), 'utf8')).toBe('else');
  });

  it.each([
    ['a name that is taken', {}, { record: 'two' }, 'has a self test of that name'],
    ['an empty name', {}, { record: ' ' }, 'an empty name'],
    ['--to', {}, { to: 'x.carton' }, 'its tests are kept in itself'],
    ['another build file', { 'modelport.toml': '', Kitfile: 'manifestVersion: "1.0"\n' }, {}, 'it is described by its Kitfile'],
    ['a carton.toml', { 'modelport.toml': '', 'carton.toml': 'spec_version = 1\n' }, {}, 'it is described by its carton.toml'],
  ])('refuses %s and changes nothing', async (_, files: FileMap, options, reason) => {
    const taken = `${toml}\n[[self_test]]\nname = "two"\ninputs = {}\n`;
    const all = Object.entries({ ...model, 'modelport.toml': taken, ...files }).filter(([, content]) => content !== '');
    const folder = bench.write('model', Object.fromEntries(all));
    const before = readTree(folder);
    await expect(record({ record: 'new', runner: 'noop', ...options })).rejects.toMatchObject({
      code: 'ops/bad-option',
      message: expect.stringContaining(reason),
    });
    expect(readTree(folder)).toEqual(before);
  });

  it('leaves nothing behind when the build file cannot take it', async () => {
    const folder = bench.write('model', { ...model, 'modelport.toml': `self_test = []\n${toml}` });
    const before = readTree(folder);
    await expect(record({})).rejects.toMatchObject({ code: 'ops/refused', hint: expect.stringContaining('[[self_test]]') });
    expect(readTree(folder)).toEqual(before);
    expect(existsSync(join(folder, 'tests'))).toBe(false);
  });

  it('does not write through a link', async () => {
    const folder = bench.write('model', model);
    mkdirSync(bench.path('elsewhere'));
    symlinkSync(bench.path('elsewhere'), join(folder, 'tests'));
    await expect(record({})).rejects.toMatchObject({ code: 'ops/refused', message: expect.stringContaining('it is a link') });
    expect(listFiles(bench.path('elsewhere'))).toEqual([]);
  });

  it('records nothing that breaks what is declared', async () => {
    const folder = bench.write('model', { ...model, 'modelport.toml': toml.replace('[[output]]\nname = "x"', '[[output]]\nname = "y"') });
    const before = readTree(folder);
    await expect(record({})).rejects.toMatchObject({ code: 'runtime/bad-output' });
    expect(readTree(folder)).toEqual(before);
  });

  it('wants a name for --as and --to', async () => {
    bench.write('model', model);
    const { record: _, ...bare } = { record: 'x', location: bench.path('model'), inputs: ['x=[1]'] };
    await expect(within((context) => run({ ...bare, recordAs: 'example' }, context))).rejects.toMatchObject({ code: 'ops/bad-option' });
    await expect(within((context) => run({ ...bare, to: 'x.carton' }, context))).rejects.toMatchObject({ code: 'ops/bad-option' });
  });
});

describe('run --record in a carton', () => {
  it('makes a new one with the self test, the old one stays', async () => {
    await makeCarton();
    const before = readFileSync(bench.path('one.carton'));
    const { written } = await record({ to: bench.path('two.carton') }, bench.path('one.carton'));
    expect(written).toMatchObject({ samples: ['two'], path: bench.path('two.carton'), modelHash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await check(bench.path('two.carton'))).toMatchObject({ passed: 1, failed: 0, skipped: 0 });
    expect(readFileSync(bench.path('one.carton')).equals(before)).toBe(true);
  });

  it('may take its own place, or a name in the store', async () => {
    await makeCarton();
    const place = bench.path('one.carton');
    await record({ to: place }, place);
    await record({ to: 'demo/same:v2', record: 'three', recordAs: 'example' }, place);
    expect(await within((context) => test({ location: 'demo/same:v2' }, context))).toMatchObject({ passed: 1 });
  });

  it('asks for --to before anything runs', async () => {
    await makeCarton();
    await expect(record({ inputs: ['x=nonsense'] }, bench.path('one.carton'))).rejects.toMatchObject({
      code: 'ops/bad-option',
      message: expect.stringContaining('a package is not changed'),
      hint: expect.stringContaining('--to FILE.carton'),
    });
  });

  it('writes nothing over a file that is no carton', async () => {
    await makeCarton();
    writeFileSync(bench.path('text'), 'text');
    await expect(record({ to: bench.path('text') }, bench.path('one.carton'))).rejects.toMatchObject({ code: 'bytes/exists' });
    expect(readFileSync(bench.path('text'), 'utf8')).toBe('text');
  });

  it('refuses a package that has no place for tests', async () => {
    const folder = bench.write('model', model);
    await within((context) => pack({ dir: folder, format: 'modelpack', output: bench.path('packed.tar') }, context));
    await expect(record({ to: 'x.carton', runner: 'noop' }, bench.path('packed.tar'))).rejects.toMatchObject({ code: 'format/unsupported' });
  });
});
