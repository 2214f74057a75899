import { describe, expect, it } from 'vitest';
import { build, type Recipe, toBytes, toSource, validRecipe } from '../../../test/fixtures/modelpack/packages.js';
import { detect } from './detect.js';
import { vintages } from './spec.js';

const image = 'application/vnd.oci.image';
const layer = (mediaType: string, more: object = {}) => ({ mediaType, digest: `sha256:${'a'.repeat(64)}`, size: 1, ...more });
const manifest = (over: object) => toSource(toBytes({ schemaVersion: 2, config: layer(`${image}.config.v1+json`), layers: [], ...over }));

describe('detect', () => {
  it.each(vintages)('recognises %s', async (vintage) => {
    expect(await detect(build(await validRecipe(vintage)))).toMatchObject({ vintage, because: expect.stringContaining('artifactType') });
  });

  it.each(vintages)('recognises %s without the artifactType that old registries drop', async (vintage) => {
    const recipe: Recipe = { ...(await validRecipe(vintage)), editManifest: (json) => delete json.artifactType };
    expect((await detect(build(recipe)))?.vintage).toBe(vintage);
  });

  it.each([
    ['cncf', 'application/octet-stream', 'cncf'],
    ['cncf', `${image}.layer.v1.tar`, undefined],
    ['cnai', 'application/octet-stream', 'cnai'],
    ['draft-2024', `${image}.layer.v1.tar`, 'draft-2024'],
  ] as const)('takes what is left of %s in layers of the type %s as %s', async (vintage, mediaType, expected) => {
    const editManifest: Recipe['editManifest'] = (json) => {
      delete json.artifactType;
      json.config.mediaType = `${image}.config.v1+json`;
      for (const each of json.layers) {
        delete each.artifactType;
        each.mediaType = mediaType;
      }
    };
    const found = await detect(build({ ...(await validRecipe(vintage)), editManifest }));
    expect(found?.vintage).toBe(expected);
  });

  it.each([
    [
      'layers of the draft of January 2025',
      { mediaType: 'application/vnd.cnai.model.manifest.v1+json', layers: [layer('application/vnd.cnai.model.layer.v1.tar')] },
      'cnai',
    ],
    ['a bare weight', { layers: [layer('application/vnd.cncf.model.weight.v1')] }, 'cncf'],
    ['one tool’s own ending', { layers: [layer('application/vnd.cncf.model.weight.v1.gguf')] }, 'cncf'],
    [
      'artifactType before config',
      {
        artifactType: 'application/vnd.cnai.model.manifest.v1+json',
        config: layer('application/vnd.cncf.model.config.v1+json'),
        layers: [layer('application/vnd.cncf.model.doc.v1.raw')],
      },
      'cnai',
    ],
    [
      'config before layers',
      { config: layer('application/vnd.cncf.model.config.v1+json'), layers: [layer('application/vnd.cnai.model.doc.v1.raw')] },
      'cncf',
    ],
    [
      'a second type on an image layer',
      { layers: [layer(`${image}.layer.v1.tar`, { artifactType: 'application/vnd.cnai.model.doc.v1.tar' })] },
      'draft-2024',
    ],
    ['no layers and an image config', { artifactType: 'application/vnd.cnai.model.manifest.v1+json' }, 'draft-2024'],
    ['no layers and a model config', { config: layer('application/vnd.cnai.model.config.v1+json') }, 'cnai'],
  ])('decides by %s', async (_, over, vintage) => {
    expect((await detect(manifest(over)))?.vintage).toBe(vintage);
  });

  it.each([
    ['an image', { layers: [layer(`${image}.layer.v1.tar+gzip`)] }],
    [
      'a ModelKit',
      { config: layer('application/vnd.kitops.modelkit.config.v1+json'), layers: [layer('application/vnd.kitops.modelkit.model.v1.tar')] },
    ],
    [
      'a Docker AI model',
      { config: layer('application/vnd.docker.ai.model.config.v0.1+json'), layers: [layer('application/vnd.docker.ai.gguf.v3')] },
    ],
    [
      'an Ollama model',
      {
        mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
        config: layer('application/vnd.docker.container.image.v1+json'),
        layers: [layer('application/vnd.ollama.image.model')],
      },
    ],
    [
      'another artifact',
      {
        artifactType: 'application/vnd.example.sbom',
        config: layer('application/vnd.oci.empty.v1+json'),
        layers: [layer('text/plain', { annotations: { 'org.opencontainers.image.title': 'a' } })],
      },
    ],
    ['a model manifest type in mediaType alone', { mediaType: 'application/vnd.cncf.model.manifest.v1+json' }],
    ['an index', { manifests: [], artifactType: 'application/vnd.cncf.model.manifest.v1+json' }],
  ])('leaves %s alone', async (_, over) => {
    expect(await detect(manifest(over))).toBeUndefined();
  });

  it.each(['', '{', '[]', 'null', '"x"', '{"layers":7,"config":[]}'])('leaves %j alone', async (text) => {
    expect(await detect(toSource(Buffer.from(text)))).toBeUndefined();
  });

  it('leaves folders alone', async () => {
    const tree = { entries: [], open: async () => Promise.reject(new Error('unused')) };
    expect(await detect({ kind: 'files', location: '.', tree })).toBeUndefined();
  });
});
