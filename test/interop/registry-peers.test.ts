/** Both ways over Docker's own registry: what we push the peers take apart, what they push we read, byte for byte. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listPaths, readFiles, sha256 } from './support/folders.js';
import { type Manifest, Layout } from './support/layouts.js';
import { makeModel, type Model, models } from './support/models.js';
import { type Inspection } from './support/modelport.js';
import { startDockerRegistry } from './support/registry.js';
import { Workplace } from './support/workplace.js';

let place: Workplace;
let host: string;
beforeAll(async () => {
  place = new Workplace();
  ({ host } = await place.open(startDockerRegistry()));
  for (const model of models) makeModel(model, folderOf(model));
});
afterAll(() => place.close());

const folderOf = (model: Model): string => join(place.folder, model);
const quiet = ['--no-tty', '--plain-http'];

interface Pushed {
  readonly name: string;
  readonly digest: string;
}

const pushed = new Map<string, Promise<Pushed>>();

/** Each form of a model is pushed once. */
function push(model: Model, ...options: readonly string[]): Promise<Pushed> {
  const name = `${host}/ours/${model}:${['v1', ...options].join('').replace(/\W+/g, '-')}`;
  const pushing =
    pushed.get(name) ?? place.json<{ digest: string }>(['push', folderOf(model), name, ...options]).then(({ digest }) => ({ name, digest }));
  pushed.set(name, pushing);
  return pushing;
}

/** A copy that a peer made: the same package, and every byte of the model in it. */
async function expectCopy(layout: string, tag: string, { digest }: Pushed, model: Model): Promise<void> {
  const [entry, ...others] = new Layout(layout).index().manifests;
  expect([entry?.digest, others]).toEqual([digest, []]);
  const location = `oci:${layout}${tag === '' ? `@${digest}` : `:${tag}`}`;
  await place.must(['verify', location]);
  const output = place.path('unpacked');
  await place.must(['unpack', location, '-o', output]);
  expect(readFiles(output)).toEqual(readFiles(folderOf(model)));
}

/** Inspected, verified, pulled: the files are those of the folder, or what is listed of them. */
async function expectReadable(name: string, folder: string, paths: readonly string[], said: Partial<Inspection>): Promise<void> {
  expect(await place.json(['inspect', '--remote', name])).toMatchObject(said);
  expect(await place.json(['verify', '--remote', name])).toMatchObject({ ok: true, problems: [] });
  const output = place.path('pulled');
  await place.must(['pull', name, '-o', output]);
  const original = readFiles(folder);
  expect(readFiles(output)).toEqual(Object.fromEntries(paths.map((path) => [path, original[path]])));
}

function writeOdd(folder: string): void {
  const files: Record<string, string | Uint8Array> = {
    'two words.bin': randomBytes(100_000),
    'größe 数字 Σ.md': 'beyond ASCII\n',
    'twin a.txt': 'the same\n',
    'twin b.txt': 'the same\n',
    'empty.txt': '',
  };
  mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content);
}

const vintages = ['cncf', 'cnai', 'draft-2024'] as const;
const copies = [...vintages.map((vintage) => ({ model: 'varied', vintage }) as const), { model: 'digits', vintage: 'cncf' } as const];

describe('they read ours', () => {
  it('oras pulls files under their names', async () => {
    const { name, digest } = await push('digits', '--layers', 'raw');
    const output = place.path('pulled');
    await place.tool('oras', ['pull', ...quiet, name, '-o', output]);
    expect(readFiles(output)).toEqual(readFiles(folderOf('digits')));
    expect((await place.tool('oras', ['resolve', '--plain-http', name])).trim()).toBe(digest);
  });

  it('oras pulls files with odd names, twins, and an empty one', async () => {
    const [folder, output] = [place.path('odd'), place.path('pulled')];
    writeOdd(folder);
    const name = `${host}/ours/odd:v1`;
    await place.must(['push', folder, name, '--layers', 'raw']);
    await place.tool('oras', ['pull', ...quiet, name, '-o', output]);
    expect(readFiles(output)).toEqual(readFiles(folder));
  });

  it('oras gets 300 small files as one archive, which tar takes apart', async () => {
    const { name } = await push('varied');
    const unpacked = place.path('unpacked');
    const manifest = JSON.parse(await place.tool('oras', ['manifest', 'fetch', '--plain-http', name])) as Manifest;
    const archives = manifest.layers.filter(({ mediaType }) => mediaType.endsWith('.tar'));
    expect(archives.length).toBe(1);
    mkdirSync(unpacked);
    const archive = place.path('archive.tar');
    await place.tool('oras', ['blob', 'fetch', '--plain-http', '-o', archive, `${host}/ours/varied@${archives[0]?.digest}`]);
    await place.tool('tar', ['-xf', archive, '-C', unpacked]);
    const original = readFiles(folderOf('varied'));
    const small = Object.entries(readFiles(unpacked));
    expect(small.length).toBeGreaterThanOrEqual(300);
    for (const [path, digest] of small) expect(original[path]).toBe(digest);
  });

  it.each(copies)('skopeo copies $model as $vintage', async ({ model, vintage }) => {
    const ours = await push(model, '--vintage', vintage);
    const layout = place.path('layout');
    await place.tool('skopeo', [
      '--insecure-policy',
      'copy',
      '--quiet',
      '--preserve-digests',
      '--src-tls-verify=false',
      `docker://${ours.name}`,
      `oci:${layout}:v1`,
    ]);
    await expectCopy(layout, 'v1', ours, model);
  });

  it.each(copies)('crane pulls $model as $vintage', async ({ model, vintage }) => {
    const ours = await push(model, '--vintage', vintage);
    const layout = place.path('layout');
    await place.tool('crane', ['pull', '--format', 'oci', ours.name, layout]);
    await expectCopy(layout, '', ours, model);
    expect((await place.tool('crane', ['digest', ours.name])).trim()).toBe(ours.digest);
  });

  it.each([
    ['digits', []],
    ['varied', []],
    ['varied', ['--layers', 'tar']],
  ] as const)('modctl takes %s apart %j', async (model, options) => {
    const { name } = await push(model, '--vintage', 'cnai', ...options);
    const output = place.path('extracted');
    await place.tool('modctl', ['pull', '--plain-http', '--no-progress', '--extract-dir', output, name]);
    expect(readFiles(output)).toEqual(readFiles(folderOf(model)));
  });
});

describe('we read theirs', () => {
  it('oras: files with odd names, twins, and an empty one', async () => {
    const folder = place.path('odd');
    writeOdd(folder);
    const files = listPaths(folder);
    const name = `${host}/theirs/oras:v1`;
    await place.tool('oras', ['push', ...quiet, name, '--artifact-type', 'application/vnd.example.thing', ...files], { cwd: folder });
    await expectReadable(name, folder, files, {
      format: 'artifact',
      extra: { artifactType: 'application/vnd.example.thing' },
    });
  });

  it.each(['--raw=true', '--raw=false'])('modctl: a model of its own making, %s', async (way) => {
    const folder = folderOf('digits');
    const file = place.path('Modelfile');
    writeFileSync(
      file,
      'NAME by-modctl\nFAMILY digits\nMODEL *.safetensors\nMODEL *.onnx\nMODEL *.pt\nCODE *.py\nCONFIG samples.json\nDOC README.md\n',
    );
    const name = `${host}/theirs/modctl${way.replace(/\W/g, '')}:v1`;
    await place.tool('modctl', ['build', '--no-progress', way, '-t', name, '-f', file, folder]);
    await place.tool('modctl', ['push', '--no-progress', '--plain-http', name]);
    await expectReadable(name, folder, listPaths(folder), {
      format: 'modelpack',
      vintage: 'cnai',
      identity: { name: 'by-modctl', family: 'digits' },
    });
  });

  it('crane and skopeo: layouts that they sent, digests kept', async () => {
    const layout = place.path('layout');
    const { digest } = await place.json<Pushed>(['pack', folderOf('varied'), '-o', `oci:${layout}:v1`]);
    const names = [`${host}/theirs/crane:v1`, `${host}/theirs/skopeo:v1`] as const;
    await place.tool('crane', ['push', layout, names[0]]);
    await place.tool('skopeo', [
      '--insecure-policy',
      'copy',
      '--quiet',
      '--preserve-digests',
      '--dest-tls-verify=false',
      `oci:${layout}:v1`,
      `docker://${names[1]}`,
    ]);
    for (const name of names) await expectReadable(name, folderOf('varied'), listPaths(folderOf('varied')), { format: 'modelpack', digest });
  });

  it('oras: an index of several, each of which is listed and reached', async () => {
    const entries = [];
    for (const tag of ['one', 'two', 'three']) {
      const folder = place.path(tag);
      mkdirSync(folder);
      writeFileSync(join(folder, 'weights.bin'), tag);
      await place.tool('oras', ['push', ...quiet, `${host}/theirs/index:${tag}`, '--artifact-type', 'application/vnd.example.thing', 'weights.bin'], {
        cwd: folder,
      });
      const { digest } = await place.json<Pushed>(['inspect', `${host}/theirs/index:${tag}`]);
      entries.push({ tag, digest });
    }
    const name = `${host}/theirs/index:all`;
    await place.tool('oras', ['manifest', 'index', 'create', '--plain-http', name, 'one', 'two', 'three']);
    const found = await place.json<Inspection>(['inspect', name]);
    expect([found.format, found.extra]).toEqual([
      'index',
      expect.objectContaining({ entries: entries.map(({ digest }) => expect.objectContaining({ digest })) }),
    ]);
    const printed = await place.must(['inspect', name]);
    for (const { digest } of entries) expect(printed).toContain(digest.slice(0, 'sha256:'.length + 12));

    const refused = await place.run(['pull', name, '-o', place.path()]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('@')]);
    for (const { tag, digest } of entries) {
      const output = place.path('pulled');
      await place.must(['pull', `${host}/theirs/index@${digest}`, '-o', output]);
      expect(readFiles(output)).toEqual({ 'weights.bin': sha256(Buffer.from(tag)) });
    }
    expect(await place.json(['verify', name])).toMatchObject({ ok: true });
  });
});
