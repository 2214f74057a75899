import { describe, expect, it } from 'vitest';
import { encodings, kinds, parseLayerType, toLayerType, vintages } from './spec.js';

describe('parseLayerType', () => {
  const written = vintages
    .flatMap((vintage) => kinds.flatMap((kind) => encodings.map((encoding) => ({ vintage, kind, encoding }))))
    .filter(({ vintage, encoding }) => vintage !== 'draft-2024' || encoding !== 'raw');

  it.each(written)('understands what is written as $vintage $kind $encoding', ({ vintage, kind, encoding }) => {
    const type = parseLayerType(toLayerType(vintage, kind, encoding));
    expect(type).toMatchObject({ encoding, kind: vintage === 'draft-2024' ? undefined : kind, family: vintage === 'draft-2024' ? 'image' : vintage });
    expect(type?.deviation === undefined).toBe(vintage !== 'cnai' || encoding !== 'raw' || kind === 'weight');
  });

  it('knows 20 types of cncf and 16 of cnai without deviation', () => {
    const count = (vintage: 'cncf' | 'cnai') =>
      new Set(
        kinds
          .flatMap((kind) => encodings.map((encoding) => toLayerType(vintage, kind, encoding)))
          .filter((each) => parseLayerType(each)?.deviation === undefined),
      ).size;
    expect([count('cncf'), count('cnai')]).toEqual([20, 16]);
  });

  it.each([
    ['application/vnd.cncf.model.weight.v1', 'weight', 'raw'],
    ['application/vnd.cncf.model.weight.v1.gguf', 'weight', 'raw'],
    ['application/vnd.cncf.model.weight.v1.safetensors', 'weight', 'raw'],
    ['application/vnd.cnai.model.weight.v1.raw', 'weight', 'raw'],
    ['application/vnd.cnai.model.layer.v1.tar', 'weight', 'tar'],
    ['application/vnd.cnai.model.layer.v1.tar+zstd', 'weight', 'tar+zstd'],
    ['application/vnd.cnai.model.config.v1.tar', 'weight.config', 'tar'],
  ])('takes %s and says what is odd', (mediaType, kind, encoding) => {
    expect(parseLayerType(mediaType)).toMatchObject({ kind, encoding, deviation: expect.stringMatching(/./) });
  });

  it.each([
    'application/vnd.oci.image.layer.v1.tar+zstd',
    'application/vnd.oci.image.layer.nondistributable.v1.tar+zstd',
    'application/vnd.docker.image.rootfs.diff.tar.zstd',
  ])('takes %s as an image layer', (mediaType) => {
    expect(parseLayerType(mediaType)).toEqual({ family: 'image', kind: undefined, encoding: 'tar+zstd' });
  });

  it.each([
    '',
    'application/octet-stream',
    'application/vnd.cncf.model.config.v1+json',
    'application/vnd.cncf.model.weight.v1.zip',
    'application/vnd.cncf.model.weight.v1.raw+gzip',
    'application/vnd.cncf.model.constructor.v1.tar',
    'application/vnd.cncf.model.weight.v2.tar',
    'application/vnd.kitops.modelkit.model.v1.tar',
  ])('refuses %j', (mediaType) => {
    expect(parseLayerType(mediaType)).toBeUndefined();
  });
});

describe('toLayerType', () => {
  it('refuses a raw layer of the draft', () => {
    expect(() => toLayerType('draft-2024', 'weight', 'raw')).toThrow(/draft knows tar layers only/);
  });
});
