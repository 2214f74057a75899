/** A folder becomes a package, and the package becomes the folder again. */
import { appendFileSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCounters, type Progress } from '../../src/core/index.js';
import { copy, inspect, list, ls, pack, type PackOptions, unpack, validate, verify } from '../../src/ops/index.js';
import schema from '../fixtures/modelpack/config-schema.json' with { type: 'json' };
import { readConfig, readManifest } from '../support/read-stored.js';
import { makeOnnx } from '../support/onnx-model.js';
import { createWorkbench, listFiles, readTree, tinyModel, touchAll, toTree, type Workbench } from '../support/workbench.js';
import { makeTensors } from '../support/weight-files.js';

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => bench.close());

const packed = (dir: string, more: Partial<PackOptions> = {}) => pack({ dir, format: 'modelpack', name: 'demo/tiny:v1', ...more }, bench.context());

/** What each vintage can be written as. */
const forms = [
  ['cncf', 'raw'],
  ['cncf', 'tar'],
  ['cncf', 'tar+gzip'],
  ['cncf', 'tar+zstd'],
  ['cnai', 'raw'],
  ['cnai', 'tar'],
  ['cnai', 'tar+gzip'],
  ['cnai', 'tar+zstd'],
  ['draft-2024', 'tar'],
  ['draft-2024', 'tar+gzip'],
] as const;

describe.each(forms)('%s with %s layers', (vintage, encoding) => {
  const form = { vintage, layers: [encoding] };

  it('depends on the content alone', async () => {
    const first = bench.write('first', tinyModel);
    touchAll(first, 1_000_000_000);
    const second = bench.write('elsewhere/second', Object.fromEntries(Object.entries(tinyModel).toReversed()));
    const a = await packed(first, form);
    const b = await pack(
      { dir: second, format: 'modelpack', name: 'other:name', ...form },
      bench.context({ home: bench.path('another-home'), concurrency: 1 }),
    );
    const c = await packed(second, { ...form, name: undefined as never, output: bench.path('c.tar') });
    expect([b.digest, c.digest]).toEqual([a.digest, a.digest]);
    writeFileSync(join(second, 'config.json'), '{"model_type":"tinY"}\n');
    expect((await packed(second, form)).digest).not.toBe(a.digest);
  });

  it('comes back byte for byte, with its modes', async () => {
    const dir = bench.write('model', tinyModel);
    await packed(dir, form);
    const result = await unpack({ location: 'demo/tiny:v1', output: bench.path('out') }, bench.context());
    expect(readTree(bench.path('out'))).toEqual(toTree(tinyModel));
    expect(result).toMatchObject({ files: Object.keys(tinyModel).length, findings: [] });
    expect(listFiles(bench.base).filter((path) => path.endsWith('.tmp') || path.includes('ingest'))).toEqual([]);
  });

  it('has no error, and every byte verifies', async () => {
    const { digest } = await packed(bench.write('model', tinyModel), form);
    const { valid, findings } = await validate({ location: 'demo/tiny:v1' }, bench.context());
    const compressedWeights = vintage !== 'draft-2024' && encoding.includes('+') ? ['MP-14'] : [];
    expect({ valid, rules: findings.filter(({ level }) => level !== 'note').map(({ rule }) => rule) }).toEqual({
      valid: true,
      rules: compressedWeights,
    });
    const { ok, problems, checked } = await verify({ location: `demo/tiny@${digest}` }, bench.context());
    expect({ ok, problems, files: checked.files }).toEqual({ ok: true, problems: [], files: Object.keys(tinyModel).length + 2 });
  });

  it('says the same of itself in the store, a layout and an archive', async () => {
    await packed(bench.write('model', tinyModel), form);
    await copy({ source: 'demo/tiny:v1', destination: 'oci:layout:v1' }, bench.context());
    await copy({ source: 'oci:layout:v1', destination: 'one.tar' }, bench.context());
    const views = await Promise.all(
      ['demo/tiny:v1', 'oci:layout:v1', 'one.tar'].map((location) => inspect({ location, tensors: true }, bench.context())),
    );
    const [store, ...others] = views.map(({ location: _location, from: _from, ...view }) => view);
    expect(store).toMatchObject({
      format: 'modelpack',
      vintage,
      weights: { format: 'safetensors', parameters: 72, tensors: 2, precision: 'float32' },
    });
    for (const other of others) expect(other).toEqual(store);
  });
});

describe.each(['cncf', 'cnai', 'draft-2024'] as const)('%s as it is by default', (vintage) => {
  it('breaks no rule and takes all advice', async () => {
    await packed(bench.write('model', tinyModel), { vintage, set: ['licenses=Apache-2.0'] });
    expect(await validate({ location: 'demo/tiny:v1', strict: true }, bench.context())).toEqual({
      format: 'modelpack',
      vintage,
      valid: true,
      findings: [],
    });
  });

  it('writes SOURCE_DATE_EPOCH into times, and only that', async () => {
    const dir = bench.write('model', tinyModel);
    const at = (epoch: string) =>
      pack({ dir, format: 'modelpack', name: `at:${epoch || 'unset'}`, vintage }, bench.context({ env: { SOURCE_DATE_EPOCH: epoch } }));
    const [unset, old, same, young] = [await at(''), await at('1000000000'), await at('1000000000'), await at('1700000000')];
    expect(same.digest).toBe(old.digest);
    expect(new Set([unset.digest, old.digest, young.digest]).size).toBe(3);
    await unpack({ location: 'at:1000000000', output: bench.path('out') }, bench.context());
    expect(readTree(bench.path('out'))).toEqual(toTree(tinyModel));
    expect((await inspect({ location: 'at:1000000000' }, bench.context())).identity.createdAt).toBe('2001-09-09T01:46:40Z');
  });
});

it('a SOURCE_DATE_EPOCH that is no number is wrong usage', async () => {
  const dir = bench.write('model', tinyModel);
  const context = bench.context({ env: { SOURCE_DATE_EPOCH: 'yesterday' } });
  await expect(pack({ dir, format: 'modelpack', name: 'a:b' }, context)).rejects.toMatchObject({ code: 'ops/bad-option', exitCode: 2 });
});

it.each(['cncf', 'cnai'] as const)('the config of %s follows the published schema', async (vintage) => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const dir = bench.write('model', tinyModel);
  const set = [
    'name=tiny',
    'version=1.0',
    'licenses=Apache-2.0,MIT',
    'authors=Ada',
    'description=A tiny one',
    'createdAt=2026-01-02T03:04:05Z',
    'inputTypes=text',
    'outputTypes=text',
    'languages=en',
    'knowledgeCutoff=2025-01-01T00:00:00Z',
    'reasoning=true',
  ];
  await packed(dir, { vintage, set });
  const accepts = ajv.compile(schema);
  expect([accepts(await readConfig(bench, 'demo/tiny:v1')), accepts.errors]).toEqual([true, null]);
});

describe('bytes', () => {
  /** Two files, one that a worker takes and one that it does not. */
  const model = {
    'a.safetensors': makeTensors({ a: ['F32', [1024, 1024, 9], 9 * 4 * 1024 * 1024] }),
    'b.safetensors': makeTensors({ b: ['U8', [3_000_000], 3_000_000] }),
  };
  const modelBytes = model['a.safetensors'].length + model['b.safetensors'].length;

  it('are read once, hashed once and written once', async () => {
    const context = bench.context();
    const { bytes } = await pack({ dir: bench.write('model', model), format: 'modelpack', name: 'demo/tiny:v1' }, context);
    const metadata = bytes.total - modelBytes;
    expect(metadata).toBeLessThan(4000);
    expect(context.counters).toMatchObject({ read: modelBytes, hashed: modelBytes + metadata, written: modelBytes + metadata, skipped: 0 });
  });

  it('are not read at all a second time', async () => {
    const dir = fileURLToPath(new URL('../../examples/digits', import.meta.url));
    const first = await packed(dir, { name: 'demo/digits:v1' });
    const context = bench.context();
    const { digest, bytes } = await pack({ dir, format: 'modelpack', name: 'demo/digits:v2' }, context);
    expect(digest).toBe(first.digest);
    expect(bytes).toEqual({ total: first.bytes.total, sent: 0, skipped: first.bytes.total });
    const content = first.parts.reduce((sum, { size }) => sum + size, 0);
    expect(context.counters).toMatchObject({ read: 0, hashed: first.bytes.total - content, skipped: content });
  });

  it('are read again when a file changed, whatever its time says', async () => {
    const dir = bench.write('model', tinyModel);
    touchAll(dir, 1_700_000_000);
    const { digest } = await packed(dir);
    writeFileSync(join(dir, 'config.json'), '{"model_type":"tinY"}\n');
    utimesSync(join(dir, 'config.json'), 1_700_000_000, 1_700_000_000);
    expect((await packed(dir)).digest).not.toBe(digest);
  });
});

describe('many files', () => {
  const many = (count: number, name: (index: number) => string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), `${index}\n`]));

  it('share a tar layer, and documents that registries show stay alone', async () => {
    const model = {
      ...many(300, (index) => `docs/page-${index}.md`),
      'README.md': '# Many\n',
      LICENSE: 'MIT\n',
      'model.safetensors': tinyModel['model.safetensors'] as Uint8Array,
    };
    const { findings, digest } = await packed(bench.write('model', model));
    expect(findings).toMatchObject([{ level: 'note', code: 'modelpack/grouped-layer' }]);
    const { layers } = await readManifest(bench, digest ?? '');
    expect(layers.map(({ annotations = {} }) => annotations['org.cncf.model.filepath'])).toEqual([
      'model.safetensors',
      'docs',
      'LICENSE',
      'README.md',
    ]);
    expect(layers.map(({ mediaType }) => mediaType.split('.').at(-1))).toEqual(['raw', 'tar', 'raw', 'raw']);
    expect((await validate({ location: 'demo/tiny:v1', strict: true }, bench.context())).findings).toEqual([]);
    await unpack({ location: 'demo/tiny:v1', output: bench.path('out') }, bench.context());
    expect(readTree(bench.path('out'))).toEqual(toTree(model));
  });

  it('that make the manifest too large are refused before a blob is written', async () => {
    const dir = bench.write(
      'model',
      many(7000, (index) => `notes/${String(index).padStart(80, 'n')}.md`),
    );
    await expect(packed(dir, { layers: ['raw'] })).rejects.toMatchObject({
      code: 'oci/too-large',
      exitCode: 1,
      hint: expect.stringMatching(/--layers/),
    });
    expect(listFiles(bench.home).filter((path) => path.startsWith('blobs'))).toEqual([]);
    expect((await packed(dir)).bytes.total).toBeGreaterThan(7000);
  });
});

it('a hybrid adds an image of the same files under a second tag', async () => {
  const { hybrid, digest, bytes } = await packed(bench.write('model', tinyModel), { hybrid: true });
  expect(hybrid).toMatchObject({ name: 'demo/tiny:v1-image' });
  expect(hybrid?.digest).not.toBe(digest);
  expect((await list({}, bench.context())).packages.map(({ name, format }) => [name, format])).toEqual([
    ['demo/tiny:v1', 'modelpack'],
    ['demo/tiny:v1-image', expect.any(String)],
  ]);
  expect((await readManifest(bench, hybrid?.digest as string)).config.mediaType).toBe('application/vnd.oci.image.config.v1+json');
  await unpack({ location: 'demo/tiny:v1-image', output: bench.path('out') }, bench.context());
  expect(readTree(bench.path('out'))).toEqual(toTree(tinyModel));
  expect(await verify({}, bench.context())).toMatchObject({ ok: true });
  expect(bytes.total).toBeGreaterThan(2 * Object.values(toTree(tinyModel)).reduce((sum, [, content]) => sum + content.length, 0));
});

describe('refuses', () => {
  const refusal = async (dir: string, more: Partial<PackOptions> = {}) => {
    await expect(packed(dir, more)).rejects.toMatchObject({ name: 'ToolkitError' });
    expect(listFiles(bench.path()).filter((path) => /^home\/(blobs|ingest)/.test(path))).toEqual([]);
    return packed(dir, more).catch((error: unknown) => error);
  };

  it.each([
    ['names that differ in case only', { 'a.txt': '1', 'A.txt': '2' }, /a\.txt/i],
    ['names that differ in Unicode form only', { 'caf\u00e9.txt': '1', 'cafe\u0301.txt': '2' }, /caf/],
    ['a folder and a file that fold to one name', { 'data/x.txt': '1', Data: '2' }, /data/i],
  ])('%s', async (_, files, name) => {
    expect(await refusal(bench.write('model', files))).toMatchObject({
      code: 'bytes/unsafe-path',
      exitCode: 1,
      message: expect.stringMatching(name),
    });
  });

  it.each(['draft-2024', 'cncf'] as const)('a whiteout name where layers are stacked: %s', async (vintage) => {
    const dir = bench.write('model', {
      'model.safetensors': tinyModel['model.safetensors'] as Uint8Array,
      'sub/.wh.x': '',
      'modelport.toml': '[files]\nother = ["sub/.wh.x"]\n',
    });
    const error = await refusal(dir, vintage === 'cncf' ? { vintage, hybrid: true } : { vintage });
    expect(error).toMatchObject({ code: 'bytes/unsafe-path', where: 'sub/.wh.x' });
  });

  it('a link that leads out of the folder, by name', async () => {
    const dir = bench.write('model', tinyModel);
    bench.write('outside', { 'secret.txt': 'secret' });
    symlinkSync('../outside/secret.txt', join(dir, 'leak.txt'));
    expect(await refusal(dir)).toMatchObject({ code: 'ops/refused', where: 'leak.txt', message: expect.stringMatching(/leads out/) });
  });

  it('an ONNX model whose data is missing, by name', async () => {
    const dir = bench.write('model', { 'model.onnx': makeOnnx({ external: 'model.onnx.data', bytes: 64 }) });
    expect(await refusal(dir)).toMatchObject({ code: 'ops/refused', message: expect.stringMatching(/model\.onnx\.data/) });
    expect((await inspect({ location: dir }, bench.context())).findings).toMatchObject([
      { level: 'error', message: expect.stringMatching(/model\.onnx\.data/) },
    ]);
    bench.write('model', { 'model.onnx.data': Buffer.alloc(64) });
    expect((await packed(dir)).parts).toMatchObject([{ path: 'model.onnx' }, { path: 'model.onnx.data', role: 'weights' }]);
  });

  it('an empty folder, and one that does not exist', async () => {
    expect(await refusal(bench.write('model', {}))).toMatchObject({ code: 'ops/nothing-to-pack', exitCode: 1 });
    expect(await refusal(bench.path('nowhere'))).toMatchObject({ code: 'bytes/not-found', exitCode: 3 });
  });

  it.each([
    [{ vintage: 'draft-2024', layers: ['raw'] }, 'modelpack/cannot-write'],
    [{ vintage: 'draft-2024', layers: ['tar+zstd'] }, 'modelpack/cannot-write'],
    [{ vintage: 'draft-2024', layers: ['weights=tar+gzip'] }, 'modelpack/cannot-write'],
    [{ vintage: 'cnai', layers: ['doc=raw'] }, 'modelpack/cannot-write'],
    [{ vintage: 'v9' }, expect.any(String)],
    [{ layers: ['zip'] }, 'ops/bad-option'],
    [{ layers: ['wieghts=raw'] }, 'ops/bad-option'],
    [{ format: 'nothing' }, 'format/unknown'],
    [{ name: 'Demo/Tiny:v1' }, 'core/bad-reference'],
    [{ set: ['colour=red'] }, 'ops/bad-option'],
  ])('%j', async (more, code) => {
    expect(await refusal(bench.write('model', tinyModel), more)).toMatchObject({ code });
  });
});

describe('a file that changes while it is packed', () => {
  /** Calls back when work on a layer begins, or its first bytes are done. */
  const watching = (event: 'start' | 'advance', change: () => void): Progress => {
    let pending = true;
    const once = (now: string) => {
      if (!pending || now !== event) return;
      pending = false;
      change();
    };
    return {
      start: (_task, item) => {
        if (item === 'model.safetensors') once('start');
        return { advance: () => item === 'model.safetensors' && once('advance'), done: () => {} };
      },
    };
  };
  const big = makeTensors({ w: ['U8', [5_000_000], 5_000_000] });

  it.each([
    ['grows before it is read', 'start', (file: string) => appendFileSync(file, 'x')],
    ['is cut before it is read', 'start', (file: string) => writeFileSync(file, 'x')],
    ['grows while it is read', 'advance', (file: string) => appendFileSync(file, 'x')],
    ['is written over while it is read', 'advance', (file: string) => writeFileSync(file, big)],
    ['is cut while it is read', 'advance', (file: string) => writeFileSync(file, big.subarray(0, 100))],
  ] as const)('and %s is refused, and nothing is left', async (_, event, change) => {
    const dir = bench.write('model', { 'model.safetensors': big });
    const context = bench.context({ progress: watching(event, () => change(join(dir, 'model.safetensors'))), counters: createCounters() });
    await expect(pack({ dir, format: 'modelpack', name: 'demo/tiny:v1' }, context)).rejects.toMatchObject({
      code: 'bytes/file-changed',
      exitCode: 3,
      where: expect.stringMatching(/model\.safetensors$/),
    });
    expect((await list({}, bench.context())).packages).toEqual([]);
    expect(listFiles(bench.home).filter((path) => !/^(index\.json|oci-layout|cache\/.*)$/.test(path))).toEqual([]);
    expect(readdirSync(bench.home)).not.toContain('ingest');
  });
});

it('ls names every file with size and mode', async () => {
  await packed(bench.write('model', tinyModel), { layers: ['tar'] });
  const { files } = await ls({ location: 'demo/tiny:v1', digests: true }, bench.context());
  const tree = toTree(tinyModel);
  expect(files.map(({ path }) => path).toSorted()).toEqual(Object.keys(tree));
  for (const { path, size, mode, digest } of files)
    expect({ path, size, mode, digest }).toEqual({
      path,
      size: tree[path]?.[1].length,
      mode: `0${tree[path]?.[0]}`,
      digest: expect.stringMatching(/^sha256:/),
    });
});
