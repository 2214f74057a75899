import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { artifactOf, type CartonFile, cartonOf, minimalToml, sourceOf, withManifest } from '../../../test/support/carton-files.js';
import { collect, digestOf, openPart } from '../../bytes/index.js';
import { defaultLimits, type ModelPackage, type PackageSource } from '../../core/index.js';
import { read, readSummary } from './read.js';
import { artifactType, memberType, sharedMemberBytes } from './spec.js';

const options = { limits: defaultLimits };

const toml = `spec_version = 1
model_name = "digits"
short_description = "Reads digits"
license = "MIT"
required_platforms = ["x86_64-unknown-linux-gnu"]
future = 2

[[input]]
name = "x"
dtype = "float32"
shape = ["n", "*", 2]

[[output]]
name = "y"
dtype = "string"
shape = "*"

[[self_test]]
name = "one"
inputs = { x = "@tensor_data/numbers" }
expected_out = { y = "@tensor_data/words" }
rtol = 0.5

[[example]]
inputs = { x = "@misc/pictures/x.png" }
sample_out = { y = "@tensor_data/ragged" }

[runner]
runner_name = "python"
required_framework_version = "=3.11"
runner_compat_version = 1

[runner.opts]
entrypoint_package = "main"
entrypoint_fn = "get_model"
threads = 4
big = 9223372036854775807
`;

const index = `[[tensor]]
name = "numbers"
dtype = "float32"
shape = [1, 1, 2]
file = "tensor_0.bin"

[[tensor]]
name = "words"
dtype = "string"
shape = [2]
file = "tensor_1.toml"
inner = []

[[tensor]]
name = "ragged"
dtype = "nested"
inner = ["numbers", "words"]
`;

const numbers = Buffer.from(new Float32Array([1.5, -2]).buffer);

const files = {
  'carton.toml': toml,
  'model/main.py': 'def get_model(): ...',
  'model/weights.safetensors': 'w'.repeat(sharedMemberBytes),
  'model/.carton/carton.lock': 'orig_deps_hash = ""',
  'tensor_data/index.toml': index,
  'tensor_data/tensor_0.bin': numbers,
  'tensor_data/tensor_1.toml': 'data = ["a", "\u0c24"]',
  'misc/pictures/x.png': 'PNG',
};
const url = 'https://example.com/w';

function linksFor(...contents: readonly string[]): string {
  return `version = 1\n[urls]\n${contents.map((content) => `${digestOf(Buffer.from(content)).slice(7)} = ["${url}"]\n`).join('')}`;
}

async function contentOf({ parts }: ModelPackage, path: string): Promise<Buffer> {
  const part = parts.find((each) => each.path === path);
  if (part === undefined) throw new Error(`no part ${path}`);
  const bytes = await collect(await openPart(part.content), 1e6, path);
  expect(bytes.byteLength).toBe(part.size);
  return Buffer.from(bytes);
}

async function findingsOf(source: PackageSource): Promise<string[]> {
  return (await read(source, options)).findings.map(({ level, code, message, where }) => `${level} ${code} ${where}: ${message}`);
}

const containers: readonly (readonly [string, () => Promise<PackageSource>])[] = [
  ['folder', async () => cartonOf(files)],
  ['zip', async () => cartonOf(files, 'zip')],
  ['artifact', async () => artifactOf(withManifest(files) as Readonly<Record<string, string>>)],
];

describe.each(containers)('read a carton in a %s', (_, open) => {
  it('gives every member with its bytes, role and digest, and finds nothing odd', async () => {
    const pkg = await read(await open(), options);
    expect(pkg.findings).toEqual([]);
    expect(Object.fromEntries(pkg.parts.map(({ path, role }) => [path, role]))).toEqual({
      'carton.toml': 'config',
      MANIFEST: 'config',
      'model/main.py': 'code',
      'model/weights.safetensors': 'weights',
      'model/.carton/carton.lock': 'environment',
      'tensor_data/index.toml': 'test',
      'tensor_data/tensor_0.bin': 'test',
      'tensor_data/tensor_1.toml': 'test',
      'misc/pictures/x.png': 'doc',
    });
    for (const [path, content] of Object.entries(files)) {
      expect(await contentOf(pkg, path)).toEqual(Buffer.from(content));
      expect(pkg.parts.find((part) => part.path === path)?.digest).toBe(digestOf(Buffer.from(content)));
    }
    expect(pkg.modelHash).toBe(digestOf(await contentOf(pkg, 'MANIFEST')).slice(7));
  });

  it('gives ranges of a member', async () => {
    const pkg = await read(await open(), options);
    for (const path of ['model/main.py', 'model/weights.safetensors']) {
      const part = pkg.parts.find((each) => each.path === path);
      const bytes = await collect(await openPart(part?.content as never, { start: 4, end: 7 }), 9, path);
      expect(Buffer.from(bytes)).toEqual(Buffer.from(files[path as keyof typeof files]).subarray(4, 7));
    }
  });

  it('says what carton.toml says', async () => {
    const source = await open();
    const { identity, io, run, extra, linked, ...rest } = await read(source, options);
    expect(rest).toMatchObject({ format: 'carton', vintage: 'v1', weights: {}, capabilities: {} });
    expect(linked).toBeUndefined();
    expect(identity).toEqual({ name: 'digits', description: 'Reads digits', licenses: ['MIT'] });
    expect(io).toEqual({
      inputs: [{ name: 'x', dtype: 'float32', shape: ['n', null, 2] }],
      outputs: [{ name: 'y', dtype: 'string', shape: '*' }],
      selfTests: 1,
      examples: 1,
    });
    expect(run).toEqual({
      runtime: 'python',
      version: '=3.11',
      entrypoint: 'main:get_model',
      options: { entrypoint_package: 'main', entrypoint_fn: 'get_model', threads: 4, big: 9223372036854775807n },
    });
    expect(extra).toEqual({
      specVersion: 1,
      shortDescription: 'Reads digits',
      requiredPlatforms: ['x86_64-unknown-linux-gnu'],
      runnerCompatVersion: 1,
      links: 0,
      unknown: { future: 2 },
    });
    expect(await readSummary(source, options)).toEqual({ identity, weights: {} });
  });

  it('loads the tensors of self tests and examples', async () => {
    const { samples } = await read(await open(), options);
    const test = samples?.selfTests[0];
    const float = { kind: 'numeric', dtype: 'float32', shape: [1, 1, 2], bytes: numbers };
    const words = { kind: 'string', shape: [2], values: ['a', '\u0c24'] };
    expect(test).toMatchObject({ name: 'one', rtol: 0.5 });
    expect(await test?.inputs.get('x')?.()).toEqual(float);
    expect(await test?.expected?.get('y')?.()).toEqual(words);
    const example = samples?.examples[0];
    expect(example?.inputs.get('x')).toEqual({ kind: 'file', path: 'misc/pictures/x.png' });
    const output = example?.outputs.get('y');
    expect(output?.kind === 'tensor' && (await output.load())).toEqual({ kind: 'nested', inner: [float, words] });
  });
});

describe('read', () => {
  it('takes the smallest carton, without tensor_data', async () => {
    const pkg = await read(cartonOf(), options);
    expect(pkg).toMatchObject({ identity: {}, run: { runtime: 'noop', version: '=1.0.0' }, findings: [], io: { selfTests: 0, examples: 0 } });
  });

  it('gives files that are only linked apart, and finds those that nobody has', async () => {
    const there = { 'carton.toml': minimalToml, LINKS: linksFor('www') };
    const pkg = await read(sourceOf(withManifest(there, { 'model/w.bin': 'www', 'model/v.bin': 'vvv' })), options);
    expect(pkg.linked).toEqual([{ role: 'weights', path: 'model/w.bin', digest: digestOf(Buffer.from('www')), urls: [url] }]);
    expect(pkg.findings).toMatchObject([{ level: 'error', code: 'carton/missing-member', where: 'model/v.bin' }]);
    expect(pkg.extra).toMatchObject({ links: 1 });
    expect(pkg.parts.map(({ path }) => path).sort()).toEqual(['LINKS', 'MANIFEST', 'carton.toml']);
  });

  it('finds files that MANIFEST does not list', async () => {
    const all = { ...withManifest({ 'carton.toml': minimalToml }), 'model/extra': 'x' };
    expect(await findingsOf(sourceOf(all))).toEqual([
      'warning carton/unlisted-member model/extra: "model/extra" is not covered by MANIFEST: nothing says what it should be',
    ]);
  });

  it('reads on without a usable MANIFEST', async () => {
    const without = await read(sourceOf({ 'carton.toml': minimalToml, 'model/a': '' }, 'zip'), options);
    expect(without.modelHash).toBeUndefined();
    expect(without.findings).toMatchObject([{ level: 'error', code: 'carton/bad-manifest', where: 'MANIFEST' }]);
    const broken = await read(sourceOf({ 'carton.toml': minimalToml, MANIFEST: Buffer.from([0xff]) }), options);
    expect(broken.findings).toMatchObject([{ level: 'error', code: 'carton/bad-manifest', message: 'Cannot read "MANIFEST": it is not UTF-8' }]);
  });

  it('finds paths that cannot stand beside each other', async () => {
    const there = { 'carton.toml': minimalToml, LINKS: linksFor('w'), 'model/a': 'a' };
    const found = await findingsOf(sourceOf(withManifest(there, { 'model/a/b': 'w', 'model/A': 'w' })));
    expect(found.sort()).toEqual([expect.stringContaining('error carton/same-path'), expect.stringContaining('warning carton/folding-path')]);
  });

  it('finds a broken LINKS and a broken index, with their places', async () => {
    expect(await findingsOf(cartonOf({ LINKS: 'version = 1\n[urls\n', 'tensor_data/index.toml': '[[tensor]]\nname = 3\n' }))).toEqual([
      expect.stringMatching(/^error carton\/bad-links LINKS:2:6: Cannot read "LINKS" as TOML/),
      'error carton/bad-tensor-index tensor_data/index.toml:1:3: Cannot use tensor_data/index.toml, tensor[0]: expected "name" to be a text',
    ]);
  });

  it('finds references that lead nowhere', async () => {
    const odd = `${minimalToml}[[self_test]]\ninputs = { x = "@tensor_data/none" }\n[[example]]\ninputs = { x = "@misc/none" }\nsample_out = { y = "plain" }\n`;
    expect(await findingsOf(cartonOf({ 'carton.toml': odd }))).toEqual([
      'error carton/bad-reference carton.toml:8:12: Cannot use self_test[0].inputs.x: tensor_data/index.toml has no tensor "none"',
      'error carton/bad-reference carton.toml:10:12: Cannot use example[0].inputs.x: there is no file "misc/none"',
      'error carton/bad-reference carton.toml:11:16: Cannot use example[0].sample_out.y: tensor_data/index.toml has no tensor "plain"',
    ]);
    const { samples } = await read(cartonOf({ 'carton.toml': odd, 'tensor_data/index.toml': index }), options);
    await expect(samples?.selfTests[0]?.inputs.get('x')?.()).rejects.toMatchObject({
      code: 'carton/bad-tensor',
      message: 'Cannot use the tensor "none": it is not in tensor_data/index.toml, which has "numbers", "words", "ragged"',
    });
  });

  it('gives no tensor whose file is not what MANIFEST says', async () => {
    const all = { ...withManifest(files), 'tensor_data/tensor_0.bin': Buffer.alloc(8) };
    const { samples } = await read(sourceOf(all), options);
    await expect(samples?.selfTests[0]?.inputs.get('x')?.()).rejects.toMatchObject({
      code: 'bytes/digest-mismatch',
      message: expect.stringContaining('Cannot use "tensor_data/tensor_0.bin": expected sha256:'),
    });
  });

  it.each([
    ['', 'expected spec_version = 1, found none', 'carton.toml'],
    ['spec_version = 2\n', 'expected spec_version = 1, found 2', 'carton.toml:1:1'],
    ['spec_version = 1.0\n', 'expected spec_version = 1, found 1.0', 'carton.toml:1:1'],
    ['spec_version = "1"\n', 'expected spec_version = 1, found "1"', 'carton.toml:1:1'],
    ['spec_version = 1\n', 'expected [runner] with the texts runner_name and required_framework_version', 'carton.toml'],
    ['spec_version = 1\n[runner]\nrunner_name = "noop"\n', 'expected [runner] with the texts', 'carton.toml:2:2'],
    ['spec_version = 1\nspec_version = 1\n', 'Cannot read "carton.toml" as TOML', 'carton.toml:2:1'],
    [Buffer.from([0xff]), 'Cannot read "carton.toml": it is not UTF-8', 'carton.toml'],
  ])('refuses the carton.toml %j', async (text, reason, where) => {
    const source = cartonOf({ 'carton.toml': text });
    const expected = { code: 'carton/unreadable', message: expect.stringContaining(reason), where };
    await expect(read(source, options)).rejects.toMatchObject(expected);
    await expect(readSummary(source, options)).rejects.toMatchObject(expected);
  });

  it('refuses what holds no carton.toml, and one beyond the limit', async () => {
    await expect(read(sourceOf({ MANIFEST: '' }), options)).rejects.toThrow('Cannot read "./model.carton" as a carton: it holds no carton.toml');
    const limits = { ...defaultLimits, personFileBytes: 10 };
    await expect(read(cartonOf(), { limits })).rejects.toThrow('at most 10 are read');
  });

  it('throws what the disk throws', async () => {
    const { tree, ...source } = cartonOf();
    const open = () => Promise.reject(new Error('the disk is gone'));
    await expect(read({ ...source, tree: { ...tree, open } }, options)).rejects.toThrow('the disk is gone');
  });
});

describe('read of damaged documents', () => {
  it.each(['carton.toml', 'MANIFEST', 'LINKS', 'tensor_data/index.toml'])(
    'gives a package or says that it cannot, whatever is in %s',
    async (path) => {
      const whole = withManifest({ ...files, LINKS: linksFor('www') }, { 'model/w': 'www' });
      const bytes = Buffer.from(whole[path as 'MANIFEST']);
      const change = fc.tuple(fc.nat(bytes.byteLength - 1), fc.nat(9), fc.string({ unit: 'binary-ascii', maxLength: 9 }));
      await fc.assert(
        fc.asyncProperty(change, async ([at, length, text]) => {
          const changed = Buffer.concat([bytes.subarray(0, at), Buffer.from(text), bytes.subarray(at + length)]);
          const source = sourceOf({ ...whole, [path]: changed });
          const outcome = await read(source, options).catch((error: unknown) => error);
          expect(outcome).toMatchObject(outcome instanceof Error ? { code: 'carton/unreadable' } : { format: 'carton' });
        }),
        { numRuns: 40 },
      );
    },
  );
});

describe('read links', () => {
  const withLinks = (links: Readonly<Record<string, CartonFile>>, more: Readonly<Record<string, CartonFile>> = {}) =>
    cartonOf({ 'carton.toml': minimalToml, 'model/a/real.txt': 'real', ...more, ...links });

  it('follows relative ones inside the carton, chains too', async () => {
    const pkg = await read(withLinks({ 'model/a/one': { link: 'two' }, 'model/a/two': { link: 'real.txt' } }), options);
    expect(pkg.findings).toEqual([]);
    expect(await contentOf(pkg, 'model/a/one')).toEqual(Buffer.from('real'));
    expect(pkg.parts.find(({ path }) => path === 'model/a/one')?.digest).toBe(digestOf(Buffer.from('real')));
  });

  it('follows .. and . as long as they stay inside', async () => {
    const listed = withManifest({ 'carton.toml': minimalToml, 'model/a/real.txt': 'real' }, { 'model/b/up': 'real' });
    const pkg = await read(sourceOf({ ...listed, 'model/b/up': { link: './../a//real.txt' } }), options);
    expect(pkg.findings).toEqual([]);
    expect(await contentOf(pkg, 'model/b/up')).toEqual(Buffer.from('real'));
  });

  it.each([
    ['/etc/passwd', 'the link "model/l" leads to the absolute path "/etc/passwd"'],
    ['../../etc/passwd', 'the link "model/l" leads out of the carton, to "../../etc/passwd"'],
    ['l', 'the link "model/l" leads back to itself'],
    ['..', 'the link "model/l" leads to the carton itself'],
    ['none', 'it is a link to "model/none", which is not in the carton'],
    ['', 'the link "model/l" leads nowhere'],
    ['folder/real.txt', 'it is a link to "model/folder/real.txt", which is not in the carton'],
  ])('finds the one to %j', async (link, reason) => {
    const listed = withManifest({ 'carton.toml': minimalToml, 'model/a/real.txt': 'real', 'model/folder': { link: 'a' } }, { 'model/l': '' });
    const found = await read(sourceOf({ ...listed, 'model/l': { link } }), options);
    expect(found.findings.find(({ where }) => where === 'model/l')).toMatchObject({
      level: 'error',
      code: 'carton/bad-link',
      message: `Cannot use "model/l": ${reason}`,
    });
    expect(found.parts.some(({ path }) => path === 'model/l')).toBe(false);
  });

  it('takes one to a linked file for linked itself', async () => {
    const there = { 'carton.toml': minimalToml, LINKS: linksFor('www') };
    const listed = withManifest(there, { 'model/w': 'www', 'model/l': 'www' });
    const pkg = await read(sourceOf({ ...listed, 'model/l': { link: 'w' } }), options);
    expect(pkg.findings).toEqual([]);
    expect(pkg.linked?.map(({ path }) => path)).toEqual(['model/l', 'model/w']);
  });

  it('asks a tree that keeps targets as content', async () => {
    const { tree, ...source } = withLinks({ 'model/a/one': { link: 'real.txt' } });
    const entries = tree.entries.map(({ path, kind, size, mode, mtime }) => ({ path, kind, size, mode, mtime }));
    const open = { entries, open: tree.open.bind(tree), readLink: async () => 'real.txt' };
    expect(await contentOf(await read({ ...source, tree: open }, options), 'model/a/one')).toEqual(Buffer.from('real'));
  });
});

describe('read an artifact', () => {
  const all = withManifest(files) as Readonly<Record<string, string>>;
  const refused = (reason: string) => ({ code: 'carton/unreadable', message: expect.stringContaining(reason) });

  it('refuses another type, layers that are no members, and members that cannot stand together', async () => {
    const title = 'org.opencontainers.image.title';
    const other = await artifactOf(all, (manifest) => (manifest.artifactType = 'application/x-other'));
    await expect(read(other, options)).rejects.toMatchObject(refused(`expected the artifactType ${artifactType}, found "application/x-other"`));
    const alter = (over: object) => artifactOf(all, ({ layers }) => (layers[0] = { ...(layers[0] as object), ...over }));
    await expect(read(await alter({ mediaType: 'application/x-other' }), options)).rejects.toMatchObject(refused('found "application/x-other"'));
    await expect(read(await alter({ annotations: {} }), options)).rejects.toMatchObject(refused(`expected the annotation ${title}, found none`));
    await expect(read(await alter({ annotations: { [title]: '../x' } }), options)).rejects.toMatchObject(refused('it has a ".." part'));
    await expect(read(await alter({ annotations: { [title]: 'carton.toml' } }), options)).rejects.toMatchObject(refused('it stands twice'));
  });

  it('reads a long tar layer by ranges', async () => {
    const source = await artifactOf(all);
    const pkg = await read(source, { limits: { ...defaultLimits, listedLayerBytes: 1024 } });
    expect(pkg.findings).toEqual([]);
    expect(pkg.parts.find(({ path }) => path === 'model/main.py')?.content.kind).toBe('slice');
    expect(await contentOf(pkg, 'model/main.py')).toEqual(Buffer.from(files['model/main.py']));
  });

  it('gives the layers as blobs', async () => {
    const pkg = await read(await artifactOf(all), options);
    expect(pkg.parts.find(({ path }) => path === 'model/weights.safetensors')?.content).toMatchObject({
      kind: 'blob',
      descriptor: { mediaType: memberType },
    });
  });
});
