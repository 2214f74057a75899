import { describe, expect, it } from 'vitest';
import { documentsOf, floats, MemoryCarton, noop, richPackage, texts, writeOptions, writeToMemory } from '../../../test/support/carton-write.js';
import { minimalToml, sourceOf, withManifest } from '../../../test/support/carton-files.js';
import { defaultLimits, type FilesSource, type LazyTensor, type Tensor } from '../../core/index.js';
import { createMemoryStore } from '../../store/index.js';
import { type AddedSamples, addSamples } from './add-samples.js';
import { read } from './read.js';
import { validate } from './validate.js';

const limits = defaultLimits;
const scalar = (value: bigint): Tensor => ({ kind: 'numeric', dtype: 'int64', shape: [], bytes: new Uint8Array(BigInt64Array.of(value).buffer) });
const inputs = new Map([
  ['s', texts([1], 'q')],
  ['x', floats([1, 2, 1], 7, 8)],
]);

async function add(source: FilesSource, added: AddedSamples) {
  const documents = await documentsOf(source);
  const carton = new MemoryCarton();
  const written = await addSamples(documents.members, documents, added, carton, writeOptions);
  return { ...written, carton, pkg: await read(carton.source, { limits }) };
}

const loadAll = async (tensors: ReadonlyMap<string, LazyTensor> | undefined) =>
  Object.fromEntries(await Promise.all([...(tensors ?? [])].map(async ([name, load]) => [name, await load()] as const)));

describe('addSamples', () => {
  it('adds a self test and an example, and keeps every other member', async () => {
    const { carton } = await writeToMemory(richPackage(), {}, noop);
    const sample = { name: 'new', description: 'Recorded with noop 1', inputs };
    const outputs = new Map([['y', scalar(9n)]]);
    const more = await add(carton.source, { selfTests: [{ ...sample, expected: outputs }], examples: [{ ...sample, outputs }] });
    const { selfTests = [], examples = [] } = more.pkg.samples ?? {};
    expect(selfTests.map(({ name }) => name)).toEqual(['one', undefined, 'new']);
    expect(await loadAll(selfTests[2]?.expected)).toMatchObject({ y: { dtype: 'int64', shape: [], bytes: Buffer.from([9, 0, 0, 0, 0, 0, 0, 0]) } });
    expect(await loadAll(selfTests[2]?.inputs)).toMatchObject({ s: texts([1], 'q'), x: { shape: [1, 2, 1] } });
    expect(examples.map(({ name, description }) => [name, description])).toEqual([
      ['shown', undefined],
      ['new', 'Recorded with noop 1'],
    ]);
    const same = carton.paths.filter((path) => !['carton.toml', 'MANIFEST', 'tensor_data/index.toml'].includes(path));
    for (const path of same) expect(more.carton.text(path)).toBe(carton.text(path));
    expect((await validate(more.carton.source, { limits })).filter(({ level }) => level === 'error')).toEqual([]);
    expect(more.findings).toEqual([]);
  });

  it('takes names and files that nobody has, whatever the case', async () => {
    const index =
      '[[tensor]]\nname = "_Tensor_0"\ndtype = "int64"\nshape = []\nfile = "x.bin"\n\n[[tensor]]\nname = "_tensor_1"\ndtype = "int64"\nshape = []\nfile = "Tensor_0.bin"\n';
    const toml = `${minimalToml}\n[[input]]\nname = "x"\ndtype = "int64"\nshape = []\n\n[[output]]\nname = "y"\ndtype = "int64"\nshape = []\n`;
    const eight = new Uint8Array(8);
    const files = {
      'carton.toml': toml,
      'model/a': 'a',
      'tensor_data/index.toml': index,
      'tensor_data/x.bin': eight,
      'tensor_data/Tensor_0.bin': eight,
    };
    const more = await add(sourceOf(withManifest(files)), { selfTests: [{ inputs: new Map([['x', scalar(3n)]]) }] });
    expect(more.carton.text('tensor_data/index.toml')).toContain('name = "_tensor_2"\ndtype = "int64"\nshape = []\nfile = "tensor_1.bin"');
    expect(more.carton.paths).toContain('tensor_data/Tensor_0.bin');
    expect((await validate(more.carton.source, { limits })).filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('puts another expectation in place of the old one, whose tensors go', async () => {
    const { carton } = await writeToMemory(richPackage(), {}, noop);
    const more = await add(carton.source, { expected: new Map([[0, new Map([['y', scalar(6n)]])]]) });
    expect(await loadAll(more.pkg.samples?.selfTests[0]?.expected)).toMatchObject({
      y: { dtype: 'int64', bytes: Buffer.from([6, 0, 0, 0, 0, 0, 0, 0]) },
    });
    const [before, after] = [carton.paths, more.carton.paths].map((paths) => paths.filter((path) => path.startsWith('tensor_data/')).length);
    expect(after).toBe(before);
    expect(more.carton.text('carton.toml')).toContain('rtol = 0.001');
    const twice = await add(more.carton.source, { expected: new Map([[0, new Map([['y', scalar(5n)]])]]) });
    expect(
      Buffer.from(twice.carton.files['tensor_data/index.toml'] as Uint8Array)
        .toString()
        .match(/\[\[tensor]]/g),
    ).toHaveLength(carton.text('tensor_data/index.toml').match(/\[\[tensor]]/g)?.length ?? 0);
  });

  it('keeps what version 1 does not know, and says that comments are lost', async () => {
    const { carton } = await writeToMemory(richPackage(), {}, { ...noop, unknown: { other: { big: 9_007_199_254_740_993n, exact: 1 } } });
    const toml = `# A comment\n${carton.text('carton.toml')}`;
    const more = await add(sourceOf(withManifest({ ...carton.files, 'carton.toml': toml })), { selfTests: [{ inputs }] });
    expect(more.carton.text('carton.toml')).toContain('[other]\nbig = 9007199254740993\nexact = 1.0\n');
    expect(more.findings).toEqual([expect.objectContaining({ level: 'note', code: 'carton/comments-lost' })]);
  });

  it('leaves linked files linked', async () => {
    const toml = `${minimalToml}\n[[input]]\nname = "x"\ndtype = "int64"\nshape = []\n\n[[output]]\nname = "y"\ndtype = "int64"\nshape = []\n`;
    const digest = 'ab'.repeat(32);
    const files = withManifest({ 'carton.toml': toml, 'model/a': 'a' });
    const manifest = `${Buffer.from(files['MANIFEST'] ?? '').toString()}model/far=${digest}\n`;
    const links = `version = 1\n[urls]\n${digest} = ["https://example.com/far"]\n`;
    const more = await add(sourceOf({ ...files, MANIFEST: manifest, LINKS: links }), { selfTests: [{ inputs: new Map([['x', scalar(1n)]]) }] });
    expect(more.carton.text('LINKS')).toBe(links);
    expect(more.pkg.linked).toEqual([expect.objectContaining({ path: 'model/far' })]);
  });

  it('writes an artifact too', async () => {
    const { carton } = await writeToMemory(richPackage(), {}, noop);
    const documents = await documentsOf(carton.source);
    const blobs = createMemoryStore();
    const { root, modelHash } = await addSamples(documents.members, documents, { selfTests: [{ inputs }] }, { kind: 'oci', blobs }, writeOptions);
    expect(root?.digest).toMatch(/^sha256:/);
    expect(modelHash).toBe((await add(carton.source, { selfTests: [{ inputs }] })).modelHash);
  });

  it('does not vouch for what MANIFEST contradicts', async () => {
    const { carton } = await writeToMemory(richPackage(), {}, noop);
    const changed = (path: string) => sourceOf({ ...carton.files, [path]: `${carton.text(path)}\n` });
    await expect(add(changed('carton.toml'), { selfTests: [{ inputs }] })).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    await expect(add(changed('tensor_data/index.toml'), { selfTests: [{ inputs }] })).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
    await expect(add(changed('model/weights.bin'), { selfTests: [{ inputs }] })).rejects.toMatchObject({ code: 'bytes/digest-mismatch' });
  });

  it('leaves out what MANIFEST does not cover', async () => {
    const { carton } = await writeToMemory(richPackage(), {}, noop);
    const { findings, carton: more } = await add(sourceOf({ ...carton.files, 'model/more': 'x' }), { selfTests: [{ inputs }] });
    expect(more.paths).not.toContain('model/more');
    expect(findings).toEqual([expect.objectContaining({ level: 'warning', code: 'carton/left-out', where: 'model/more' })]);
    const unlisted = carton.text('MANIFEST').replace(/^carton\.toml=.*\n/m, '');
    await expect(add(sourceOf({ ...carton.files, MANIFEST: unlisted }), { selfTests: [{ inputs }] })).rejects.toMatchObject({
      code: 'carton/cannot-write',
      message: expect.stringContaining('MANIFEST does not cover "carton.toml"'),
    });
  });

  it('refuses what has no place in a carton', async () => {
    const bare = sourceOf(withManifest({ 'carton.toml': minimalToml, 'model/a': 'a' }));
    await expect(add(bare, { selfTests: [{ inputs }] })).rejects.toMatchObject({
      code: 'carton/cannot-write',
      message: expect.stringContaining('declares no inputs'),
    });
    const { carton } = await writeToMemory(richPackage(), {}, noop);
    const half: Tensor = { kind: 'numeric', dtype: 'float16', shape: [1], bytes: new Uint8Array(2) };
    await expect(add(carton.source, { selfTests: [{ inputs: new Map([['x', half]]) }] })).rejects.toMatchObject({
      code: 'carton/cannot-write',
      message: expect.stringContaining('a carton has no float16'),
    });
    const odd = sourceOf(withManifest({ ...carton.files, 'tensor_data/index.toml': 'tensor = 1\n' }));
    await expect(add(odd, { selfTests: [{ inputs }] })).rejects.toMatchObject({ code: 'carton/cannot-write', where: 'tensor_data/index.toml' });
  });
});
