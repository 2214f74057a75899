import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  build,
  encode,
  entry,
  files,
  layer,
  type Recipe,
  tar,
  text,
  toBytes,
  toSource,
  validRecipe,
  weights,
} from '../../../test/fixtures/modelpack/packages.js';
import { overwrite } from '../../../test/fixtures/modelpack/overwrite.js';
import { collect, openPart } from '../../bytes/index.js';
import { defaultLimits, type ModelPackage } from '../../core/index.js';
import { listPartsByLayer, read } from './read.js';
import { annotationKeys, draftLayerKeys, titleKey, vintages } from './spec.js';

const options = { limits: defaultLimits };
const keys = annotationKeys.cncf;

async function readRecipe(vintage: (typeof vintages)[number], change: (recipe: Recipe) => unknown = () => {}): Promise<ModelPackage> {
  const recipe = await validRecipe(vintage);
  await change(recipe);
  return read(build(recipe), options);
}

async function contentOf({ parts }: ModelPackage, path: string): Promise<string> {
  const part = parts.find((each) => each.path === path);
  if (part === undefined) throw new Error(`no part ${path}`);
  const bytes = await collect(await openPart(part.content), 1e6, path);
  expect(bytes.byteLength).toBe(part.size);
  return Buffer.from(bytes).toString('latin1');
}

const summary = ({ findings }: ModelPackage) => findings.map(({ level, code }) => `${level} ${code}`);

describe.each(vintages)('read %s', (vintage) => {
  it('gives every file with its bytes, role and attributes, and finds nothing odd', async () => {
    const pkg = await readRecipe(vintage);
    expect(pkg).toMatchObject({ format: 'modelpack', vintage, findings: [], identity: { name: 'tiny' }, weights: { paramSize: '0.6B' } });
    expect(pkg.parts.map(({ path }) => path).sort()).toEqual(Object.keys(files).sort());
    for (const [path, bytes] of Object.entries(files)) expect(await contentOf(pkg, path)).toBe(Buffer.from(bytes).toString('latin1'));
    const roles = Object.fromEntries(pkg.parts.map(({ path, role }) => [path, role]));
    expect(roles).toEqual({
      'model.safetensors': 'weights',
      'config.json': 'config',
      'tokenizer.json': 'tokenizer',
      'vocab.txt': 'tokenizer',
      'README.md': 'doc',
      'code/run.py': 'code',
      'data/set.csv': 'dataset',
    });
    expect(pkg.parts.every(({ mode, mtime }) => mode === 0o644 && mtime === 1_609_459_200)).toBe(true);
  });

  it('keeps what has no neutral place', async () => {
    const pkg = await readRecipe(vintage, (recipe) => {
      recipe.annotations = { ...recipe.annotations, 'com.example.k': 'v' };
      (recipe.layers[0] as Recipe['layers'][0]).annotations['com.example.l'] = 'w';
    });
    expect(pkg.extra).toMatchObject({
      annotations: { 'com.example.k': 'v' },
      diffIds: pkg.parts.length > 0 ? expect.arrayContaining([expect.stringMatching(/^sha256:/)]) : [],
    });
    const rows = pkg.extra['layers'] as readonly Record<string, unknown>[];
    expect(rows).toHaveLength(6);
    expect(rows[0]).toMatchObject({
      filepath: 'model.safetensors',
      encoding: vintage === 'draft-2024' ? 'tar' : 'raw',
      digest: expect.stringMatching(/^sha256:/),
      annotations: { 'com.example.l': 'w' },
    });
  });

  it('shows a compressed layer beyond the limit as one file', async () => {
    const pkg = await read(build(await validRecipe(vintage)), { limits: { ...defaultLimits, listedLayerBytes: 10 } });
    expect(pkg.parts.map(({ path }) => path)).toContain('config.json');
    expect(pkg.findings.length).toBeGreaterThan(0);
    expect(pkg.findings.every(({ level, code }) => level === 'note' && code === 'modelpack/layer-too-large')).toBe(true);
  });

  it('goes on without a config', async () => {
    const gone = await readRecipe(vintage, (recipe) => (recipe.editManifest = (manifest) => delete manifest.config));
    expect(summary(gone)).toEqual(['error modelpack/config-unreadable']);
    const broken = await readRecipe(vintage, (recipe) => (recipe.configBytes = text('{"a":1,"a":2}')));
    expect(summary(broken)).toEqual(['error modelpack/config-unreadable']);
    expect(broken.parts).toHaveLength(7);
  });

  it('goes on past a layer that nobody can fetch', async () => {
    const pkg = await readRecipe(vintage, (recipe) => (recipe.editManifest = (manifest) => (manifest.layers[3].digest = 'md5:1')));
    expect(summary(pkg)).toEqual(['error modelpack/layer-descriptor']);
    expect(pkg.parts).toHaveLength(6);
  });

  it('survives any change of manifest and config', async () => {
    const { layers } = await validRecipe(vintage);
    const recipe = { ...(await validRecipe(vintage)), layers };
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.nat(60), fc.jsonValue({ maxDepth: 3 }), async (inConfig, place, value) => {
        const edit = (json: object) => overwrite(json, place, value);
        const pkg = await read(build(inConfig ? { ...recipe, editConfig: edit } : { ...recipe, editManifest: edit }), options);
        return Array.isArray(pkg.findings);
      }),
      { numRuns: 60 },
    );
  }, 20_000);
});

describe('read', () => {
  it('refuses what is no ModelPack', async () => {
    await expect(read(toSource(toBytes({ layers: [] })), options)).rejects.toMatchObject({ code: 'modelpack/unreadable' });
  });

  it('refuses more layers than the limit', async () => {
    await expect(read(build(await validRecipe('cncf')), { limits: { ...defaultLimits, manifestLayers: 5 } })).rejects.toMatchObject({
      code: 'bytes/limit',
    });
  });

  it('takes the old names of config fields and says so', async () => {
    const pkg = await readRecipe('cnai', (recipe) => {
      recipe.config = {
        descriptor: { createTime: '2025-01-01T00:00:00Z', infoURL: 'https://example.com' },
        config: { parameterSize: 6_700_000_000, puantization: 'awq' },
        capabilities: { input_types: ['text'], tool_usage: true, embedding: true },
      };
      recipe.editConfig = (config) => (config.modelfs = { type: 'layers', diff_ids: config.modelfs.diffIds });
    });
    expect(pkg).toMatchObject({
      identity: { createdAt: '2025-01-01T00:00:00Z', documentation: 'https://example.com' },
      weights: { paramSize: '6.7B', quantization: 'awq' },
      capabilities: { inputTypes: ['text'], toolUsage: true },
    });
    expect(pkg.extra['config']).toEqual({ capabilities: { embedding: true } });
    expect(pkg.extra['diffIds']).toHaveLength(6);
    expect(new Set(summary(pkg))).toEqual(new Set(['warning modelpack/former-name']));
    expect(pkg.findings).toHaveLength(7);
  });

  it('leaves a field of the wrong type in extra', async () => {
    const pkg = await readRecipe('cncf', (recipe) => (recipe.config = { descriptor: { version: 3, name: 'n' }, config: {} }));
    expect(pkg.identity).toEqual({ name: 'n' });
    expect(pkg.extra['config']).toMatchObject({ descriptor: { version: 3 } });
    expect(summary(pkg)).toEqual(['warning modelpack/config-field']);
  });

  it('reads the annotations of drafts that had a config too', async () => {
    const pkg = await readRecipe(
      'cnai',
      (recipe) =>
        (recipe.annotations = {
          'org.cnai.model.name': 'other',
          'org.cnai.model.vendor': 'Example',
          'org.cnai.model.url': 'https://example.com/home',
        }),
    );
    expect(pkg.identity).toMatchObject({ name: 'tiny', vendor: 'Example', homepage: 'https://example.com/home' });
  });

  it('puts the one file of a tar where filepath says when the tar has its bare name', async () => {
    const pkg = await readRecipe('cncf', async (recipe) => {
      recipe.layers[0] = await layer('cncf', 'weight', 'tar', 'weights/deep/model.gguf', tar(entry('./model.gguf', weights)));
    });
    expect(pkg.parts[0]).toMatchObject({ path: 'weights/deep/model.gguf', role: 'weights' });
  });

  it('leaves several files of a tar where the tar has them', async () => {
    const pkg = await readRecipe('cncf', async (recipe) => {
      recipe.layers[3] = await layer(
        'cncf',
        'doc',
        'tar',
        'docs',
        tar(entry('docs/', '', { type: '5' }), entry('docs/a.md', 'a'), entry('docs/b.md', 'b')),
      );
    });
    expect(pkg.parts.filter(({ path }) => path.startsWith('docs')).map(({ path }) => path)).toEqual(['docs/a.md', 'docs/b.md']);
    expect(pkg.findings).toEqual([]);
  });

  it('follows hard links inside a tar and names what is no file', async () => {
    const pkg = await readRecipe('cncf', async (recipe) => {
      const inner = tar(
        entry('code/a.py', 'print()'),
        entry('code/b.py', '', { type: '1', linkName: 'code/a.py' }),
        entry('code/c.py', '', { type: '2', linkName: 'a.py' }),
        entry('code/d', '', { type: '3' }),
      );
      recipe.layers[4] = await layer('cncf', 'code', 'tar+gzip', 'code', inner);
    });
    expect(await contentOf(pkg, 'code/b.py')).toBe('print()');
    expect(summary(pkg)).toEqual(['warning modelpack/odd-entry', 'warning modelpack/odd-entry']);
  });

  it('believes the bytes when the media type says another compression', async () => {
    const pkg = await readRecipe('cncf', async (recipe) => {
      (recipe.layers[3] as Recipe['layers'][0]).bytes = await encode(tar(entry('README.md', 'hi')), 'tar+zstd');
    });
    expect(await contentOf(pkg, 'README.md')).toBe('hi');
    expect(summary(pkg)).toEqual(['warning modelpack/layer-encoding']);
  });

  it('reports a tar layer that is none and shows it as one file', async () => {
    const pkg = await readRecipe('cncf', (recipe) => void ((recipe.layers[3] as Recipe['layers'][0]).bytes = text('nonsense'.repeat(200))));
    expect(summary(pkg)).toEqual(['error modelpack/layer-malformed']);
    expect(pkg.parts.find(({ path }) => path === 'README.md')?.content.kind).toBe('blob');
  });

  it.each([
    ['../x', 'error modelpack/unsafe-path'],
    ['/etc/passwd', 'error modelpack/unsafe-path'],
    ['a\\b', 'error modelpack/unsafe-path'],
    ['README.md', 'error modelpack/same-path'],
    ['readme.md', 'warning modelpack/folding-path'],
    ['code/run.py/x', 'error modelpack/same-path'],
  ])('says what is wrong with the path %j', async (path, expected) => {
    const pkg = await readRecipe('cncf', async (recipe) => void (recipe.layers[0] = await layer('cncf', 'weight', 'raw', path, weights)));
    expect(summary(pkg)).toEqual([expected]);
  });

  it('finds the path in the file metadata, the title, or names the layer by its place', async () => {
    const pkg = await readRecipe('cncf', async (recipe) => {
      const raw = async (path: string, ...drop: string[]) => {
        const made = await layer('cncf', 'weight', 'raw', path, weights);
        for (const key of drop) delete made.annotations[key];
        return made;
      };
      recipe.layers = [
        await raw('a.gguf', keys.filepath, titleKey),
        await raw('b/b.gguf', keys.filepath, keys.metadata),
        await raw('c.gguf', keys.filepath, keys.metadata, titleKey),
      ];
    });
    expect(pkg.parts.map(({ path }) => path)).toEqual(['a.gguf', 'b/b.gguf', 'layer-2']);
    expect(summary(pkg)).toEqual(['warning modelpack/predefined-keys']);
  });

  it('takes a layer of an unknown type as one file and guesses its role', async () => {
    const pkg = await readRecipe(
      'cncf',
      (recipe) => (recipe.editManifest = (manifest) => (manifest.layers[0].mediaType = 'application/octet-stream')),
    );
    expect(pkg.parts[0]).toMatchObject({ path: 'model.safetensors', role: 'weights', guessed: true });
    expect(summary(pkg)).toEqual(['warning modelpack/layer-media-type']);
  });

  it('hands on that the packer guessed', async () => {
    const pkg = await readRecipe('cncf', (recipe) => void ((recipe.layers[0] as Recipe['layers'][0]).annotations[keys.untested] = 'true'));
    expect(pkg.parts.filter(({ guessed }) => guessed === true).map(({ path }) => path)).toEqual(['model.safetensors']);
  });

  it('stacks the layers of the draft', async () => {
    const change = async (recipe: Recipe) => {
      const upper = tar(entry('.wh.vocab.txt', ''), entry('config.json', 'newer'), entry('data/.wh..wh..opq', ''));
      recipe.layers.push(await layer('draft-2024', 'weight.config', 'tar', 'upper', upper));
    };
    const pkg = await readRecipe('draft-2024', change);
    expect(pkg.parts.map(({ path }) => path).sort()).toEqual(['README.md', 'code/run.py', 'config.json', 'model.safetensors', 'tokenizer.json']);
    expect(await contentOf(pkg, 'config.json')).toBe('newer');
    expect(pkg.findings).toEqual([]);
    const recipe = await validRecipe('draft-2024');
    await change(recipe);
    const byLayer = await listPartsByLayer(build(recipe), options);
    expect(byLayer.map((parts) => parts.length)).toEqual([1, 2, 1, 1, 1, 1, 3]);
  });

  it('guesses roles in the draft where no annotation tells', async () => {
    const pkg = await readRecipe('draft-2024', (recipe) => void delete recipe.layers[0]?.annotations[draftLayerKeys.weight]);
    expect(pkg.parts.find(({ path }) => path === 'model.safetensors')).toMatchObject({ role: 'weights', guessed: true });
  });

  it('gives up listing a layer that swells', async () => {
    const recipe = await validRecipe('cncf');
    recipe.layers[4] = await layer('cncf', 'code', 'tar+gzip', 'code', tar(entry('code/run.py', '#'.repeat(100_000))));
    const pkg = await read(build(recipe), { limits: { ...defaultLimits, listedLayerBytes: 1000 } });
    expect(summary(pkg)).toEqual(['note modelpack/layer-too-large']);
  });

  it('refuses to stack a layer that leaves the root, and says so', async () => {
    const pkg = await readRecipe(
      'draft-2024',
      async (recipe) => void (recipe.layers[3] = await layer('draft-2024', 'doc', 'tar', 'README.md', tar(entry('../../README.md', 'x')))),
    );
    expect(summary(pkg)).toEqual(['error modelpack/unsafe-path']);
  });
});
