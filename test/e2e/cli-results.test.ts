/** What each verb prints with --json: field names that scripts rely on. */
import { statSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CliBench, type CliDocument, createCliBench } from '../support/cli-bench.js';
import { HostileLayout } from '../support/hostile-layout.js';
import { rawLayer, writePackage } from '../support/hostile-package.js';
import { makeOnnx } from '../support/onnx-model.js';
import { tinyModel } from '../support/workbench.js';

let bench: CliBench;
let digest: string;
beforeAll(async () => {
  bench = await createCliBench();
  ({ digest } = bench);
});
afterAll(() => bench.close());

const run = (...args: string[]) => bench.run(...args);
const json = (...args: string[]) => bench.json(...args);

const namesOf = ({ packages }: CliDocument) => packages.map(({ name }) => name);
const sha = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
const bytes = { total: expect.any(Number), sent: expect.any(Number), skipped: expect.any(Number) };
const finding = {
  level: expect.stringMatching(/^(error|warning|note)$/),
  code: expect.stringMatching(/^[a-z-]+\/[a-z0-9-]+$/),
  message: expect.any(String),
};

it('inspect', async () => {
  const { code, document, stderr } = await json('inspect', 'demo/tiny:v1');
  expect([code, stderr]).toEqual([0, '']);
  expect(document).toMatchObject({
    format: 'modelpack',
    vintage: 'cncf',
    location: 'demo/tiny:v1',
    digest,
    modelHash: null,
    identity: { licenses: ['Apache-2.0'] },
    weights: { format: 'safetensors', parameters: 72, precision: 'float32', tensors: 2, paramSize: expect.any(String) },
    io: { inputs: [], outputs: [], selfTests: 0, examples: 0 },
    run: {},
    encrypted: false,
    extra: {},
    findings: [],
  });
  expect(document.parts).toHaveLength(Object.keys(tinyModel).length);
  for (const part of document.parts)
    expect(part).toEqual({
      role: expect.any(String),
      path: expect.any(String),
      mediaType: expect.stringMatching(/^application\/vnd\.cncf\.model\./),
      size: expect.any(Number),
      digest: sha,
    });
  expect(document).not.toHaveProperty('tensors');
  const { document: more } = await json('inspect', '--tensors', 'demo/tiny:v1');
  expect(more['tensors']).toEqual(
    expect.arrayContaining([
      { name: 'layer.weight', dtype: 'float32', shape: [8, 8], bytes: 256, offset: expect.any(Number), file: 'model.safetensors' },
    ]),
  );
});

it('inspect of a bare folder is what pack makes', async () => {
  const { document } = await json('inspect', './tiny');
  expect(document).toMatchObject({ format: 'folder', digest: null, weights: { parameters: 72 } });
  const { document: packed } = await json('inspect', 'demo/tiny:v1');
  // A ModelPack has no kind for what is nothing in particular: it becomes code.
  const toRole = ({ path, role, size }: CliDocument['parts'][number]) => JSON.stringify([path, role === 'other' ? 'code' : role, size]);
  expect(document.parts.map(toRole).sort()).toEqual(packed.parts.map(toRole).sort());
});

it('inspect of a folder whose ONNX data is missing names it', async () => {
  bench.write('onnx', { 'model.onnx': makeOnnx({ external: 'model.data', bytes: 64 }) });
  const { code, document } = await json('inspect', './onnx');
  expect([code, document.findings]).toMatchObject([0, [{ level: 'error', message: expect.stringContaining('model.data') }]]);
  expect(await json('pack', './onnx', '-t', 'demo/onnx:v1')).toMatchObject({
    code: 1,
    document: { error: { message: expect.stringContaining('model.data') } },
  });
});

it('ls', async () => {
  const { document } = await json('ls', 'demo/tiny:v1');
  expect(document.files).toHaveLength(Object.keys(tinyModel).length);
  for (const file of document.files)
    expect(file).toEqual({
      path: expect.any(String),
      role: expect.any(String),
      size: expect.any(Number),
      digest: sha,
      mode: expect.stringMatching(/^0[67][45][45]$/),
    });
});

it('validate', async () => {
  expect(await json('validate', 'demo/tiny:v1')).toMatchObject({
    code: 0,
    document: { format: 'modelpack', vintage: 'cncf', valid: true, findings: [] },
  });
  const { code, document } = await json('validate', 'oci:broken:v1');
  expect([code, document['valid']]).toEqual([1, false]);
  for (const each of document.findings) expect(each).toMatchObject({ ...finding, rule: expect.stringMatching(/^MP-/), where: expect.any(String) });
});

it('verify, of one and of all', async () => {
  expect(await json('verify', 'demo/tiny:v1')).toMatchObject({
    code: 0,
    document: { ok: true, checked: { files: 11, bytes: expect.any(Number) }, problems: [], signatures: [] },
  });
  expect(await json('verify')).toMatchObject({ code: 0, document: { ok: true, problems: [] } });
  const { code, document } = await json('verify', 'oci:lying:v1');
  expect([code, document]).toMatchObject([1, { ok: false, problems: [{ ...finding, level: 'error' }] }]);
});

it('list', async () => {
  const { document } = await json('list');
  expect(document).toEqual({ packages: expect.any(Array), next: null });
  expect(namesOf(document)).toEqual(['demo/other:v1', 'demo/tiny:v1']);
  for (const each of document.packages)
    expect(each).toEqual({
      name: expect.any(String),
      digest: sha,
      format: 'modelpack',
      vintage: 'cncf',
      parameters: '0.1K',
      size: expect.any(Number),
      createdAt: null,
    });
  expect(namesOf((await json('list', 'oci:layout')).document)).toEqual(['v1', 'v2']);
});

it('pack, copy, convert and edit', async () => {
  const common = { digest: sha, bytes, lost: [] };
  expect((await json('pack', './tiny', '-t', 'demo/again:v1', '--set', 'licenses=Apache-2.0')).document).toMatchObject({
    ...common,
    digest,
    name: 'demo/again:v1',
    path: null,
    format: 'modelpack',
    vintage: 'cncf',
    findings: expect.any(Array),
    parts: expect.any(Array),
  });
  expect((await json('copy', 'demo/tiny:v1', 'again.tar')).document).toMatchObject({
    ...common,
    digest,
    name: 'demo/tiny:v1',
    path: bench.path('again.tar'),
  });
  expect((await json('convert', 'demo/tiny:v1', 'demo/cnai:v1', '--vintage', 'cnai')).document).toMatchObject({
    ...common,
    name: 'demo/cnai:v1',
    vintage: 'cnai',
    dryRun: false,
  });
  expect((await json('edit', 'demo/tiny:v1', '-t', 'demo/edited:v1', '--set', 'version=2')).document).toMatchObject({
    ...common,
    from: digest,
    name: 'demo/edited:v1',
    changed: ['set version'],
  });
  expect((await json('rm', 'demo/again:v1', 'demo/cnai:v1', 'demo/edited:v1')).document).toMatchObject({
    removed: [{ name: 'demo/again:v1' }, { name: 'demo/cnai:v1' }, { name: 'demo/edited:v1' }],
  });
  expect((await json('prune')).document).toMatchObject({
    dryRun: false,
    removed: expect.any(Array),
    freedBytes: expect.any(Number),
    kept: expect.any(Number),
  });
});

it('tag, unpack, init, doctor, version', async () => {
  expect((await json('tag', 'demo/tiny:v1', 'demo/tiny:v9')).document).toEqual({ name: 'demo/tiny:v9', digest, replaced: null });
  expect((await json('tag', 'demo/tiny:v1', 'demo/tiny:v9')).document).toMatchObject({ replaced: digest });
  await run('rm', 'demo/tiny:v9');
  expect((await json('unpack', 'demo/tiny:v1', '-o', './out')).document).toEqual({
    path: bench.path('out'),
    files: 9,
    bytes: expect.any(Number),
    digest,
    findings: [],
  });
  expect((await json('init', './other', '-o', '-')).document).toMatchObject({
    path: null,
    text: expect.stringContaining('[package]'),
    findings: [],
  });
  expect((await json('doctor')).document).toMatchObject({ ok: true, checks: expect.any(Array) });
  expect((await json('version')).document).toMatchObject({ modelport: expect.any(String) });
});

it('diff', async () => {
  expect(await json('diff', 'demo/tiny:v1', 'tiny.tar')).toMatchObject({
    code: 0,
    document: {
      equal: true,
      metadata: [],
      files: { added: [], removed: [], changed: [], renamed: [] },
      tensors: { added: [], removed: [], changed: [] },
    },
  });
  const { code, document } = await json('diff', 'demo/tiny:v1', 'demo/other:v1');
  expect([code, document]).toMatchObject([
    1,
    {
      equal: false,
      files: { changed: ['config.json'] },
      metadata: [
        { field: 'identity.family', a: 'tiny', b: 'other' },
        { field: 'identity.licenses', a: ['Apache-2.0'], b: null },
      ],
    },
  ]);
});

it('an index lists its entries, and a digest reaches one', async () => {
  const layout = new HostileLayout(bench.path('index'));
  const manifests = [1, 2].map((value) => {
    const entry = { digest: writePackage(layout, { vintage: 'cncf', layers: [rawLayer('README.md', `${value}`)] }) };
    const size = statSync(layout.blobPath(entry.digest)).size;
    return { mediaType: 'application/vnd.oci.image.manifest.v1+json', ...entry, size };
  });
  layout.index({
    mediaType: 'application/vnd.oci.image.index.v1+json',
    ...layout.put(JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests })),
  });
  const { document } = await json('inspect', 'oci:index:v1');
  expect(document).toMatchObject({ format: 'index', extra: { entries: manifests.map((each) => ({ digest: each.digest })) } });
  expect((await json('inspect', `oci:index@${manifests[1]?.digest}`)).document).toMatchObject({
    format: 'modelpack',
    digest: manifests[1]?.digest,
  });
  expect((await json('verify', 'oci:index:v1')).document).toMatchObject({ ok: true, checked: { files: 7 } });
});
