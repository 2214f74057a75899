import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { build, encode, entry, files, layer, type Recipe, tar, validRecipe, weights } from '../../../test/fixtures/modelpack/packages.js';
import { listTree } from '../../../test/support/list-tree.js';
import { unpackPackage } from '../../bytes/index.js';
import { defaultLimits, type OciSource } from '../../core/index.js';
import { vintages } from './spec.js';
import { listUnpackSources } from './unpack-sources.js';

const options = { limits: defaultLimits };
let folder: string;

beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'modelport-unpack-'))));
afterEach(() => rmSync(folder, { recursive: true }));

async function unpack(source: OciSource): Promise<string[]> {
  const { sources, policy } = await listUnpackSources(source, options);
  await unpackPackage(sources, join(folder, 'out'), { policy, limits: defaultLimits });
  return listTree(join(folder, 'out'))
    .flatMap(({ path, found }) => (found.isFile() ? [path] : []))
    .sort();
}

describe('listUnpackSources', () => {
  it.each(vintages)('gives the files of %s', async (vintage) => {
    expect(await unpack(build(await validRecipe(vintage)))).toEqual(Object.keys(files).sort());
    for (const [path, bytes] of Object.entries(files)) expect(readFileSync(join(folder, 'out', path)).equals(bytes)).toBe(true);
    expect(statSync(join(folder, 'out/model.safetensors')).mtimeMs).toBe(1_609_459_200_000);
  });

  it('stacks the draft, and sets the others side by side', async () => {
    const policies = await Promise.all(vintages.map(async (vintage) => (await listUnpackSources(build(await validRecipe(vintage)), options)).policy));
    expect(policies).toEqual(['package', 'package', 'image']);
  });

  it.each(['tar', 'tar+gzip', 'tar+zstd'] as const)('puts a file with a bare name in %s where filepath says', async (encoding) => {
    const recipe = await validRecipe('cncf');
    recipe.layers = [await layer('cncf', 'weight', encoding, 'deep/down/model.gguf', tar(entry('model.gguf', weights)))];
    expect(await unpack(build(recipe))).toEqual(['deep/down/model.gguf']);
  });

  it('leaves several files where the tar has them', async () => {
    const recipe = await validRecipe('cncf');
    recipe.layers = [await layer('cncf', 'doc', 'tar', 'docs/a.md', tar(entry('a.md', 'a'), entry('b.md', 'b')))];
    expect(await unpack(build(recipe))).toEqual(['a.md', 'b.md']);
  });

  it('believes the bytes when the media type says another compression', async () => {
    const recipe = await validRecipe('cncf');
    (recipe.layers[3] as Recipe['layers'][0]).bytes = await encode(tar(entry('README.md', 'hi')), 'tar+gzip');
    expect(await unpack(build(recipe))).toContain('README.md');
  });

  it('leaves nothing behind when a blob is not what its digest says', async () => {
    const source = build(await validRecipe('cncf'));
    const open: typeof source.blobs.open = async (descriptor, range) =>
      source.blobs.open({ ...descriptor, size: descriptor.size + (range === undefined ? 1 : 0) }, range);
    await expect(unpack({ ...source, blobs: { ...source.blobs, open } })).rejects.toMatchObject({ code: 'bytes/size-mismatch' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('refuses a layer without a usable descriptor', async () => {
    const recipe = await validRecipe('cncf');
    recipe.editManifest = (manifest) => (manifest.layers[0].size = '5');
    await expect(listUnpackSources(build(recipe), options)).rejects.toMatchObject({ code: 'modelpack/unreadable', where: 'layers[0]' });
  });
});
