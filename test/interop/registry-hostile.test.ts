/**
 * Packages made to do harm, brought into Docker's own registry by oras where it takes them, past it otherwise: what `pull` and `validate`
 * make of them is what docs/safety.md promises.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestRegistry, type TestRegistry } from '../support/registry/test-registry.js';
import { type RawEntry, rawTar } from '../support/raw-tar.js';
import { readFiles, sha256 } from './support/folders.js';
import { type Descriptor, Layout, type LayerRecipe, type Manifest, putModelPack } from './support/layouts.js';
import { type DockerRegistry, startDockerRegistry } from './support/registry.js';
import { Workplace } from './support/workplace.js';

let place: Workplace;
let registry: DockerRegistry;
/** For what neither oras sends nor Docker's registry takes. */
let careless: TestRegistry;
beforeAll(async () => {
  place = new Workplace();
  registry = await place.open(startDockerRegistry());
  careless = await place.open(startTestRegistry());
});
afterAll(() => place.close());

const content = Buffer.from('harmless as such\n');
const digest = `sha256:${sha256(content)}`;
const raw = (filepath: string, bytes: Uint8Array = content): LayerRecipe => ({ type: 'weight.v1.raw', filepath, bytes });
const tar = (...entries: readonly RawEntry[]): LayerRecipe => ({ type: 'weight.v1.tar', filepath: 'all', bytes: rawTar(...entries) });
const file = (name: string, fields: Partial<RawEntry> = {}): RawEntry => ({ name, content, ...fields });
const lying = (lies: Partial<Descriptor>): LayerRecipe => ({ ...raw('model.bin'), lies });

/** Who brings it there: oras; curl, as oras refuses; or nobody, as the registry refuses too. */
type Way = 'oras' | 'curl' | 'behind';

let serial = 0;

/** As oras copies it, or request by request. */
async function send(layout: Layout, way: Way): Promise<string> {
  const repository = `hostile/case-${++serial}`;
  const name = `${registry.host}/${repository}:v1`;
  const sent = await place.runTool('oras', ['cp', '--no-tty', '--from-oci-layout', `${layout.folder}:v1`, '--to-plain-http', name]);
  expect(sent.code === 0 ? 'oras' : 'another').toBe(way === 'oras' ? 'oras' : 'another');
  if (way === 'oras') return name;
  const { mediaType, digest: root } = layout.entry('v1');
  const manifest = readFileSync(layout.blobFile(root));
  const blobs = listBlobs(JSON.parse(manifest.toString()) as Manifest, layout);
  if (way === 'behind') {
    for (const blob of blobs) careless.putBlob(repository, readFileSync(blob));
    careless.putManifest(repository, 'v1', manifest, mediaType);
    return `${careless.host}/${repository}:v1`;
  }
  for (const blob of blobs) await putBlob(`${registry.url}/v2/${repository}`, blob);
  await curl([
    '-X',
    'PUT',
    '-H',
    `Content-Type: ${mediaType}`,
    '--data-binary',
    `@${layout.blobFile(root)}`,
    `${registry.url}/v2/${repository}/manifests/v1`,
  ]);
  return name;
}

/** The files of those blobs that are there. */
function listBlobs({ config, layers }: Manifest, layout: Layout): string[] {
  const files = [config, ...layers].map(({ digest: found }) => layout.blobFile(found));
  return [...new Set(files)].filter((blob) => existsSync(blob));
}

async function putBlob(repository: string, blob: string): Promise<void> {
  const begun = await curl(['-X', 'POST', '-D', '-', '-o', place.path(), `${repository}/blobs/uploads/`]);
  const location = /^location: (.+?)\r?$/im.exec(begun)?.[1] ?? '';
  const named = `${location}&digest=sha256:${sha256(readFileSync(blob))}`;
  await curl(['-X', 'PUT', '-H', 'Content-Type: application/octet-stream', '--data-binary', `@${blob}`, named]);
}

const curl = (args: readonly string[]): Promise<string> => place.tool('curl', ['-sS', '--fail-with-body', ...args]);

/** A folder with a file in it, beside which nothing may appear. */
function makeSandbox(): string {
  const sandbox = place.path('sandbox');
  mkdirSync(sandbox);
  writeFileSync(join(sandbox, 'outside.txt'), 'outside\n');
  return sandbox;
}

async function expectRefused(name: string, named: string, status = 1): Promise<void> {
  const sandbox = makeSandbox();
  const { code, stdout, stderr } = await place.run(['pull', name, '-o', join(sandbox, 'target')]);
  expect([code, stdout]).toEqual([status, '']);
  expect(stderr).toContain(named);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(Object.keys(readFiles(sandbox))).toEqual(['outside.txt']);
}

/** 0 or 1, never a crash; one document on stdout. */
async function validate(name: string): Promise<{ readonly code: number; readonly printed: string }> {
  const { code, stdout } = await place.run(['validate', name, '--json']);
  JSON.parse(stdout);
  return { code, printed: stdout };
}

interface Case {
  readonly what: string;
  readonly layers: readonly LayerRecipe[];
  /** What the message has to say. */
  readonly named: string;
  readonly way?: Way;
  /** The specification leaves it open, so that `validate` only warns. */
  readonly warned?: 'MP-A6';
}

const cases: readonly Case[] = [
  { what: 'filepath up and out', layers: [raw('../evil.txt')], named: '../evil.txt' },
  { what: 'filepath down, up and out', layers: [raw('a/../../evil.txt')], named: 'a/../../evil.txt' },
  { what: 'absolute filepath', layers: [raw('/tmp/x')], named: '/tmp/x' },
  { what: 'filepath with backslashes', layers: [raw('..\\evil.txt')], named: 'evil.txt' },
  { what: 'filepath of the root', layers: [raw('.')], named: '"."' },
  { what: 'two layers with one filepath', layers: [raw('model.bin'), raw('model.bin', Buffer.from('another'))], named: 'model.bin' },
  { what: 'tar entry over the file of a raw layer', layers: [raw('model.bin'), tar(file('model.bin', { content: 'other' }))], named: 'model.bin' },
  { what: 'tar entry up and out', layers: [tar(file('fine.txt'), file('../evil.txt'))], named: '../evil.txt' },
  {
    what: 'symlink out, then a file through it',
    layers: [tar({ name: 'd', type: '2', linkName: '..' }, file('d/evil.txt'))],
    named: 'd',
    warned: 'MP-A6',
  },
  { what: 'hard link to a file outside', layers: [tar({ name: 'link', type: '1', linkName: '../outside.txt' })], named: 'link', warned: 'MP-A6' },
  { what: 'character device', layers: [tar({ name: 'null', type: '3' })], named: 'null', warned: 'MP-A6' },
  { what: 'named pipe', layers: [tar({ name: 'pipe', type: '6' })], named: 'pipe', warned: 'MP-A6' },
  { what: 'set-user-id file', layers: [tar(file('run', { mode: 0o4755 }))], named: 'run', warned: 'MP-A6' },
  {
    what: 'tar cut off within a file',
    layers: [{ ...tar(), bytes: rawTar(file('long.bin', { content: Buffer.alloc(4096) })).subarray(0, 2000) }],
    named: 'layers[0]',
  },
  { what: 'layer one byte longer than it is', layers: [lying({ size: content.length + 1 })], named: 'model.bin', way: 'curl' },
  { what: 'layer one byte shorter than it is', layers: [lying({ size: content.length - 1 })], named: 'model.bin', way: 'curl' },
  { what: 'digest in upper case', layers: [lying({ digest: digest.toUpperCase().replace('SHA256', 'sha256') })], named: 'layers[0]', way: 'behind' },
  { what: 'digest of an algorithm that nobody trusts', layers: [lying({ digest: `md5:${'0'.repeat(32)}` })], named: 'layers[0]', way: 'behind' },
  { what: 'digest that is a path', layers: [lying({ digest: `sha256:../../${'0'.repeat(58)}` })], named: 'layers[0]', way: 'behind' },
];

describe('pull refuses, and leaves nothing', () => {
  it.each(cases)('$what', async ({ layers, named, way = 'oras', warned }) => {
    const layout = Layout.create(place.path('layout'));
    putModelPack(layout, 'v1', layers);
    const name = await send(layout, way);
    await expectRefused(name, named);
    const { code, printed } = await validate(name);
    const said = warned ?? (way === 'behind' ? 'oci/bad-manifest' : '"valid": false');
    expect([code, printed]).toEqual([warned === undefined ? 1 : 0, expect.stringContaining(said)]);
  });

  it('a layer that the registry does not have, which is the fault of the registry', async () => {
    const layout = Layout.create(place.path('layout'));
    const absent = `sha256:${'0'.repeat(64)}`;
    putModelPack(layout, 'v1', [lying({ digest: absent })]);
    const name = await send(layout, 'behind');
    await expectRefused(name, absent, 3);
    const { code, stdout } = await place.run(['verify', name, '--json']);
    expect([code, stdout]).toEqual([1, expect.stringContaining(absent)]);
  });

  it('a manifest of 5 MiB', async () => {
    const layout = Layout.create(place.path('layout'));
    const config = layout.putBlob('application/vnd.cncf.model.config.v1+json', Buffer.from('{}'));
    layout.putManifest('v1', { config, layers: [], annotations: { long: 'x'.repeat(5 << 20) } });
    const name = await send(layout, 'behind');
    await expectRefused(name, 'manifest');
    expect((await validate(name)).code).toBe(1);
  });
});

describe('configs that break the schema', () => {
  it.each([
    ['no JSON', 'not json', /JSON/i],
    ['empty', '{}', /modelfs/],
    ['of wrong types', '{"descriptor":{"name":1},"config":[],"modelfs":{"type":"layers","diffIds":"none"}}', /diffIds/],
    ['with a field that nobody knows', `{"descriptor":{},"config":{},"modelfs":{"type":"layers","diffIds":["${digest}"]},"extra":1}`, /extra/],
  ])('%s: validate says so', async (_what, config, said) => {
    const layout = Layout.create(place.path('layout'));
    layout.putManifest('v1', {
      artifactType: 'application/vnd.cncf.model.manifest.v1+json',
      config: layout.putBlob('application/vnd.cncf.model.config.v1+json', Buffer.from(config)),
      layers: [{ ...layout.putBlob('application/vnd.cncf.model.weight.v1.raw', content), annotations: { 'org.cncf.model.filepath': 'model.bin' } }],
    });
    const { code, printed } = await validate(await send(layout, 'oras'));
    expect([code, printed]).toEqual([1, expect.stringMatching(said)]);
  });
});

describe('what is odd and legal is read', () => {
  const archive = rawTar(file('model.bin'), file('docs/a..b.txt'));
  const diffId = `sha256:${sha256(archive)}`;
  const files = { 'docs/a..b.txt': sha256(content), 'model.bin': sha256(content) };

  const zip = async (): Promise<Buffer> => {
    const [plain, packed] = [place.path('plain.tar'), place.path('packed.zst')];
    writeFileSync(plain, archive);
    await place.tool('zstd', ['-q', plain, '-o', packed]);
    return readFileSync(packed);
  };

  it.each([
    ['a gzip layer', 'weight.v1.tar+gzip', () => gzipSync(archive)],
    ['a zstd layer', 'weight.v1.tar+zstd', zip],
    ['a plain tar', 'weight.v1.tar', () => archive],
  ])('%s', async (_what, type, make) => {
    const layout = Layout.create(place.path('layout'));
    putModelPack(layout, 'v1', [{ type, filepath: 'all', bytes: await make(), diffId }]);
    const output = place.path('pulled');
    await place.must(['pull', await send(layout, 'oras'), '-o', output]);
    expect(readFiles(output)).toEqual(files);
  });

  it('a layer that names no file gets a name, and validate says so', async () => {
    const layout = Layout.create(place.path('layout'));
    putModelPack(layout, 'v1', [raw('')]);
    const name = await send(layout, 'oras');
    const output = place.path('pulled');
    await place.must(['pull', name, '-o', output]);
    expect(readFiles(output)).toEqual({ 'layer-0': sha256(content) });
    expect((await validate(name)).code).toBe(1);
  });

  it('weight.v1 without an ending is a file as it is', async () => {
    const layout = Layout.create(place.path('layout'));
    putModelPack(layout, 'v1', [{ type: 'weight.v1', filepath: 'model.bin', bytes: content }]);
    const output = place.path('pulled');
    await place.must(['pull', await send(layout, 'oras'), '-o', output]);
    expect(readFiles(output)).toEqual({ 'model.bin': sha256(content) });
  });
});

it('indexes in indexes, 200 levels, end at a limit', async () => {
  const indexType = 'application/vnd.oci.image.index.v1+json';
  const layout = Layout.create(place.path('layout'));
  let inner = putModelPack(layout, 'inner', [raw('model.bin')]);
  for (let level = 0; level < 200; level++) inner = layout.putJson(indexType, { schemaVersion: 2, mediaType: indexType, manifests: [inner] });
  layout.name('v1', inner);
  const name = await send(layout, 'oras');
  for (const args of [
    ['verify', name],
    ['validate', name],
    ['pull', name],
    ['copy', name, `oci:${place.path('layout')}:v1`],
  ]) {
    const { code, stderr } = await place.run(args);
    expect([args[0], code]).toEqual([args[0], 1]);
    expect(stderr).not.toMatch(/\n\s+at /);
  }
  expect(await place.json(['list'])).toMatchObject({ packages: [] });
});
