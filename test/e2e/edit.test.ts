/** A changed copy: what nothing is said about keeps its bytes, and nobody reads them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { edit, type EditOptions, inspect, ls, pack, type PackOptions, unpack, validate, verify } from '../../src/ops/index.js';
import { readManifest } from '../support/read-stored.js';
import { makeTensors } from '../support/weight-files.js';
import { createWorkbench, type FileMap, readTree, tinyModel, toTree, type Workbench } from '../support/workbench.js';

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => bench.close());

const megabytes = 4 * 1024 * 1024;
const model: FileMap = { ...tinyModel, 'model.safetensors': makeTensors({ w: ['U8', [megabytes], megabytes] }) };

const packed = (files: FileMap, more: Partial<PackOptions> = {}) =>
  pack({ dir: bench.write('model', files), format: 'modelpack', name: 'demo/tiny:v1', ...more }, bench.context());
const edited = (options: Partial<EditOptions>) => edit({ location: 'demo/tiny:v1', name: 'demo/tiny:v2', ...options }, bench.context());

async function unpacked(location: string) {
  await unpack({ location, output: bench.path('out'), overwrite: false }, bench.context());
  return readTree(bench.path('out'));
}

async function expectSound(location: string): Promise<void> {
  expect(await validate({ location, strict: true }, bench.context())).toMatchObject({ valid: true, findings: [] });
  expect(await verify({ location }, bench.context())).toMatchObject({ ok: true, problems: [] });
}

describe.each(['cncf', 'cnai', 'draft-2024'] as const)('edit of %s', (vintage) => {
  it('sets fields and touches no file', async () => {
    const before = await packed(model, { vintage });
    const context = bench.context();
    const set = ['licenses=Apache-2.0', 'description=A better one', 'version=2.0'];
    const result = await edit({ location: 'demo/tiny:v1', name: 'demo/tiny:v2', set }, context);
    expect(result).toMatchObject({ from: before.digest, name: 'demo/tiny:v2', changed: ['set licenses', 'set description', 'set version'] });
    expect(result.digest).not.toBe(before.digest);
    expect(result.bytes.skipped).toBeGreaterThan(megabytes);
    expect(context.counters.read).toBeLessThan(megabytes / 8);
    expect(context.counters.hashed).toBeLessThan(64 * 1024);
    expect(context.counters.written).toBeLessThan(64 * 1024);
    const [old, young] = [await readManifest(bench, 'demo/tiny:v1'), await readManifest(bench, 'demo/tiny:v2')];
    expect(young.layers).toEqual(old.layers);
    expect(young.config).not.toEqual(vintage === 'draft-2024' ? undefined : old.config);
    expect((await inspect({ location: 'demo/tiny:v2' }, bench.context())).identity).toMatchObject({
      licenses: ['Apache-2.0'],
      description: 'A better one',
      version: '2.0',
    });
    expect(await unpacked('demo/tiny:v2')).toEqual(toTree(model));
    await expectSound('demo/tiny:v2');
  });

  it('adds, replaces and removes files', async () => {
    const before = await packed(model, { vintage });
    const extra = bench.write('extra', { NOTICE: 'Read me\n', 'config.json': '{"model_type":"other"}\n' });
    const context = bench.context();
    const options = {
      location: 'demo/tiny:v1',
      name: 'demo/tiny:v2',
      add: [`${extra}/NOTICE:doc`, `${extra}/config.json`],
      remove: ['code/run.py', 'empty.bin'],
    };
    const result = await edit(options, context);
    expect(result.changed).toEqual([`add ${extra}/NOTICE:doc`, `add ${extra}/config.json`, 'remove code/run.py', 'remove empty.bin']);
    expect(context.counters.read).toBeLessThan(megabytes / 8);
    const { 'code/run.py': _code, 'empty.bin': _empty, ...rest } = model;
    expect(await unpacked('demo/tiny:v2')).toEqual(toTree({ ...rest, NOTICE: 'Read me\n', 'config.json': '{"model_type":"other"}\n' }));
    expect((await ls({ location: 'demo/tiny:v2' }, bench.context())).files.find(({ path }) => path === 'NOTICE')?.role).toBe('doc');
    await expectSound('demo/tiny:v2');
    expect((await inspect({ location: 'demo/tiny:v1' }, bench.context())).digest).toBe(before.digest);
  });

  it('takes one file out of a tar that many share', async () => {
    const pages = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`docs/page-${index}.md`, `${index}\n`]));
    await packed({ ...model, ...pages }, { vintage, layers: vintage === 'cncf' ? [] : ['doc=tar'] });
    const context = bench.context();
    await edit({ location: 'demo/tiny:v1', name: 'demo/tiny:v2', remove: ['docs/page-7.md'] }, context);
    expect(context.counters.written).toBeLessThan(megabytes / 2);
    const { 'docs/page-7.md': _page, ...rest } = pages;
    expect(await unpacked('demo/tiny:v2')).toEqual(toTree({ ...model, ...rest }));
    expect(await verify({ location: 'demo/tiny:v2' }, bench.context())).toMatchObject({ ok: true, problems: [] });
    expect(await validate({ location: 'demo/tiny:v2' }, bench.context())).toMatchObject({ valid: true });
  });

  it('that changes nothing gives the same package', async () => {
    const before = await packed(model, { vintage, set: ['licenses=MIT'] });
    const again = await edited({ set: ['licenses=MIT'] });
    expect([again.digest, again.bytes.sent]).toEqual([before.digest, 0]);
    expect(again.findings.filter(({ code }) => code === 'edit/signatures')).toEqual([]);
  });
});

describe('edit', () => {
  it('moves the name of the store when no other is given', async () => {
    const before = await packed(model);
    const result = await edit({ location: 'demo/tiny:v1', set: ['version=2'] }, bench.context());
    expect(result).toMatchObject({ name: 'demo/tiny:v1', from: before.digest });
    expect((await inspect({ location: 'demo/tiny:v1' }, bench.context())).digest).toBe(result.digest);
  });

  it('reads from one archive and writes to another', async () => {
    await packed(model, { name: undefined as never, output: 'a.tar' });
    const result = await edit({ location: 'a.tar', output: 'b.tar', set: ['version=2'] }, bench.context());
    expect(await verify({ location: 'b.tar' }, bench.context())).toMatchObject({ ok: true });
    expect((await inspect({ location: 'b.tar' }, bench.context())).digest).toBe(result.digest);
    expect(await unpacked('b.tar')).toEqual(toTree(model));
  });

  it('says that signatures stay behind', async () => {
    await packed(model);
    expect((await edited({ set: ['version=2'] })).findings).toMatchObject([{ level: 'note', code: 'edit/signatures' }]);
  });

  it('takes a text from a file, and an empty value away', async () => {
    await packed(model, { set: ['version=1'] });
    bench.write('texts', { 'about.txt': 'Line one\nLine two\n' });
    await edited({ set: ['description=@texts/about.txt', 'version='] });
    const { identity } = await inspect({ location: 'demo/tiny:v2' }, bench.context());
    expect([identity.description, identity.version]).toEqual(['Line one\nLine two', undefined]);
  });

  it.each([
    ['nothing to change', {}, 'ops/bad-option'],
    ['a file that is not in it', { remove: ['nowhere.txt'] }, 'ops/path-not-found'],
    ['a file that is not on the disk', { add: ['nowhere.txt'] }, 'bytes/not-found'],
    ['a folder as a file', { add: ['model'] }, 'ops/bad-option'],
    ['an unknown field', { set: ['colour=red'] }, 'ops/bad-option'],
    ['a setting without a value', { set: ['version'] }, 'ops/bad-option'],
    ['a name that exists nowhere', { location: 'demo/none:v1', set: ['version=2'] }, 'store/name-not-found'],
    ['a bare folder', { location: './model', set: ['version=2'] }, 'format/unsupported'],
    ['every file away', { remove: Object.keys(model) }, 'modelpack/cannot-write'],
  ])('refuses %s', async (_, options, code) => {
    await packed(model);
    await expect(edited(options)).rejects.toMatchObject({ code });
    await expect(inspect({ location: 'demo/tiny:v2' }, bench.context())).rejects.toMatchObject({ code: 'store/name-not-found' });
  });

  it('refuses a second file that folds to the name of one that is there', async () => {
    await packed(model);
    const extra = bench.write('extra', { 'readme.md': 'twin\n' });
    await expect(edited({ add: [`${extra}/readme.md`] })).rejects.toMatchObject({ code: 'bytes/unsafe-path' });
  });

  it('refuses a whiteout name where layers are stacked', async () => {
    await packed(model, { vintage: 'draft-2024' });
    const extra = bench.write('extra', { '.wh.config.json': '' });
    await expect(edited({ add: [`${extra}/.wh.config.json:other`] })).rejects.toMatchObject({ code: 'bytes/unsafe-path' });
  });
});
