/** What a person wrote about a folder decides what is packed, and as what. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { init, inspect, pack, validate } from '../../src/ops/index.js';
import { createWorkbench, type FileMap, tinyModel, type Workbench } from '../support/workbench.js';

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => bench.close());

const packed = (files: FileMap, file?: string) =>
  pack(
    { dir: bench.write('model', { ...tinyModel, ...files }), format: 'modelpack', name: 'demo/tiny:v1', ...(file === undefined ? {} : { file }) },
    bench.context(),
  );
const looked = async () => inspect({ location: 'demo/tiny:v1' }, bench.context());
const rolesOf = ({ parts }: Awaited<ReturnType<typeof looked>>) => Object.fromEntries(parts.map(({ path, role }) => [path, role]));

describe('a Modelfile', () => {
  const text = `NAME tiny-demo
ARCH transformer
FAMILY tiny
FORMAT safetensors
PARAMSIZE 0.1K
PRECISION float32
CONFIG config.json
MODEL *.safetensors
CODE code/*
DATASET data/train.csv
DOC README.md
`;

  it('packs what it names, datasets too, and nothing else', async () => {
    await packed({ Modelfile: text });
    const result = await looked();
    expect(rolesOf(result)).toEqual({
      'model.safetensors': 'weights',
      'config.json': 'config',
      'code/run.py': 'code',
      'code/start': 'code',
      'data/train.csv': 'dataset',
      'README.md': 'doc',
    });
    expect(result.identity).toMatchObject({ name: 'tiny-demo', family: 'tiny' });
    expect(result.weights).toMatchObject({ architecture: 'transformer', format: 'safetensors', precision: 'float32' });
    expect(await validate({ location: 'demo/tiny:v1' }, bench.context())).toMatchObject({ valid: true });
  });

  it('that names what is not there is refused with its line', async () => {
    await expect(packed({ Modelfile: 'NAME a\nMODEL missing.gguf\n' })).rejects.toMatchObject({
      message: expect.stringMatching(/missing\.gguf/),
      where: expect.stringMatching(/Modelfile:2/),
    });
  });
});

describe('a Kitfile', () => {
  const text = `manifestVersion: "1.0"
package:
  name: tiny-kit
  version: "2.0"
  description: A kit
  license: Apache-2.0
  authors: [Ann, Bob]
model:
  path: ./model.safetensors
code:
  - path: code/
datasets:
  - path: data/train.csv
docs:
  - path: README.md
`;

  it('packs what it names', async () => {
    await packed({ Kitfile: text });
    const result = await looked();
    expect(rolesOf(result)).toEqual({
      'model.safetensors': 'weights',
      'code/run.py': 'code',
      'code/start': 'code',
      'data/train.csv': 'dataset',
      'README.md': 'doc',
    });
    expect(result.identity).toMatchObject({
      name: 'tiny-kit',
      version: '2.0',
      description: 'A kit',
      licenses: ['Apache-2.0'],
      authors: ['Ann', 'Bob'],
    });
  });

  it('gives the same package under another name in another place', async () => {
    const { digest } = await packed({ Kitfile: text });
    bench.write('elsewhere', { 'my.Kitfile': text });
    expect((await packed({}, bench.path('elsewhere/my.Kitfile'))).digest).toBe(digest);
  });
});

describe('modelport.toml', () => {
  const text = `[package]
name = "tiny"
version = "1.0"
licenses = ["MIT"]

[files]
dataset = ["code/*.py"]
ignore = ["data/**"]

[capabilities]
input_types = ["text"]

[format.modelpack]
vintage = "cnai"
layers = { weights = "raw", doc = "tar+gzip" }
`;

  it('decides roles, what is left out, vintage and layers', async () => {
    const result = await packed({ 'modelport.toml': text });
    expect(result).toMatchObject({ vintage: 'cnai' });
    const seen = await looked();
    expect(rolesOf(seen)).toMatchObject({ 'code/run.py': 'dataset', 'code/start': 'code' });
    expect(rolesOf(seen)).not.toHaveProperty(['data/train.csv']);
    expect(seen.parts.find(({ path }) => path === 'README.md')?.mediaType).toBe('application/vnd.cnai.model.doc.v1.tar+gzip');
    expect(seen).toMatchObject({ identity: { name: 'tiny', licenses: ['MIT'] }, capabilities: { inputTypes: ['text'] } });
  });

  it('gives way to options', async () => {
    bench.write('model', { ...tinyModel, 'modelport.toml': text });
    const result = await pack(
      { dir: './model', format: 'modelpack', name: 'demo/tiny:v1', vintage: 'cncf', layers: ['raw'], set: ['version=9'] },
      bench.context(),
    );
    expect(result).toMatchObject({ vintage: 'cncf' });
    const seen = await looked();
    expect(seen.identity.version).toBe('9');
    expect(new Set(seen.parts.map(({ mediaType }) => mediaType?.split('.').at(-1)))).toEqual(new Set(['raw']));
  });

  it('that init wrote changes nothing about the files', async () => {
    const before = await packed({});
    await init({ dir: './model' }, bench.context());
    const after = await pack({ dir: './model', format: 'modelpack', name: 'demo/tiny:v2' }, bench.context());
    expect(after.parts).toEqual(before.parts);
    await expect(init({ dir: './model' }, bench.context())).rejects.toMatchObject({ code: 'buildfile/exists', exitCode: 3 });
  });

  it.each([
    ['[pakage]\nname = "x"\n', 'buildfile/invalid', /package/],
    ['[package]\nnmae = "x"\n', 'buildfile/invalid', /name/],
    ['[package\n', 'buildfile/syntax', /modelport\.toml/],
    ['[files]\nweights = ["../*"]\n', 'buildfile/invalid', /\.\./],
  ])('%j is refused', async (wrong, code, words) => {
    const error = await packed({ 'modelport.toml': wrong }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code });
    expect(`${String(error)} ${(error as { hint?: string }).hint} ${(error as { where?: string }).where}`).toMatch(words);
  });
});

it('the first of several wins, and the others are named', async () => {
  const { findings } = await packed({ Modelfile: 'MODEL *.safetensors\n', Kitfile: 'manifestVersion: "1.0"\nmodel:\n  path: x\n' });
  expect(findings).toMatchObject([{ level: 'note', code: 'buildfile/passed-over', where: 'Kitfile' }]);
});
