import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultLimits, isToolkitError } from '../core/index.js';
import { parseManifest } from './manifest.js';
import { mediaTypes } from './media-types.js';
import { toJsonBytes } from './serialize.js';

const digest = `sha256:${'a'.repeat(64)}`;
const config = { mediaType: 'application/vnd.cncf.model.config.v1+json', digest, size: 2 };
const layer = {
  mediaType: 'application/vnd.cncf.model.weight.v1.raw',
  digest: `sha256:${'b'.repeat(64)}`,
  size: 5,
  artifactType: 'x/y',
  annotations: { 'org.cncf.model.filepath': 'w.bin' },
};
const manifest = {
  schemaVersion: 2,
  mediaType: mediaTypes.manifest,
  artifactType: 'application/vnd.cncf.model.manifest.v1+json',
  config,
  layers: [layer],
  annotations: { a: 'b' },
};
const index = {
  schemaVersion: 2,
  mediaType: mediaTypes.index,
  manifests: [{ ...config, mediaType: mediaTypes.manifest, platform: { os: 'linux', architecture: 'amd64' } }],
};

function parse(value: unknown) {
  return parseManifest(toJsonBytes(value), 'test', defaultLimits);
}

describe('parseManifest', () => {
  it('reads a manifest with everything a layer carries', () => {
    const parsed = parse(manifest);
    expect(parsed.kind === 'manifest' && parsed.manifest).toEqual({ ...manifest });
    expect(parsed.json).toEqual(manifest);
  });

  it('reads an index with platforms', () => {
    const parsed = parse(index);
    expect(parsed.kind === 'index' && parsed.index.manifests[0]?.platform).toEqual({ os: 'linux', architecture: 'amd64' });
  });

  it.each([
    ['no media type', { ...manifest, mediaType: undefined }],
    ['no schema version', { ...manifest, schemaVersion: undefined }],
    ['a media type of its own, as the draft of January 2025 has it', { ...manifest, mediaType: 'application/vnd.cnai.model.manifest.v1+json' }],
    ['null where Go writes an empty list', { ...manifest, layers: null }],
    ['null annotations', { ...manifest, annotations: null }],
    ['unknown fields', { ...manifest, future: [1] }],
    ['a docker manifest', { ...manifest, mediaType: mediaTypes.dockerManifest }],
  ])('tolerates %s', (_what, value) => {
    expect(parse(value).kind).toBe('manifest');
  });

  it.each([
    ['an array', [], 'document'],
    ['layers beside manifests', { ...manifest, manifests: [] }, 'beside'],
    ['config beside manifests', { ...index, config }, 'beside'],
    ['a manifest that says it is an index', { ...manifest, mediaType: mediaTypes.index }, 'content is that of a manifest'],
    ['an index that says it is a manifest', { ...index, mediaType: mediaTypes.dockerManifest }, 'content is that of an index'],
    ['schema 1', { schemaVersion: 1, fsLayers: [] }, 'schema 1'],
    ['neither', { schemaVersion: 2 }, 'found neither'],
    ['no config', { ...manifest, config: undefined }, 'config: expected a descriptor'],
    ['a traversing digest', { ...manifest, layers: [{ ...layer, digest: 'sha256:../../etc/passwd' }] }, 'layers[0].digest'],
    ['an upper-case digest', { ...manifest, config: { ...config, digest: digest.toUpperCase() } }, 'config.digest'],
    ['a short digest', { ...manifest, config: { ...config, digest: 'sha256:abc' } }, 'config.digest'],
    ['an unknown algorithm', { ...manifest, config: { ...config, digest: `md5:${'a'.repeat(32)}` } }, 'config.digest'],
    ['a negative size', { ...manifest, layers: [layer, { ...layer, size: -1 }] }, 'layers[1].size'],
    ['a size as text', { ...manifest, layers: [{ ...layer, size: '12' }] }, 'layers[0].size'],
    ['a fractional size', { ...manifest, layers: [{ ...layer, size: 1.5 }] }, 'layers[0].size'],
    ['no media type of a layer', { ...manifest, layers: [{ ...layer, mediaType: undefined }] }, 'layers[0].mediaType'],
    ['a number as annotation', { ...manifest, layers: [{ ...layer, annotations: { n: 1 } }] }, 'layers[0].annotations["n"]'],
    ['layers that are no list', { ...manifest, layers: {} }, 'layers: expected an array'],
    ['a subject without a digest', { ...manifest, subject: { mediaType: 'x/y', size: 1 } }, 'subject.digest'],
  ])('refuses %s', (_what, value, field) => {
    expect(() => parse(value)).toThrow(expect.objectContaining({ code: 'oci/bad-manifest', message: expect.stringContaining(field) }));
  });

  it.each(['9007199254740993', '1e999', '-0.5', '1e400'])('refuses the size %s', (size) => {
    const text = JSON.stringify(manifest).replace('"size":5', `"size":${size}`);
    expect(() => parseManifest(Buffer.from(text), 'test', defaultLimits)).toThrow(expect.objectContaining({ code: 'oci/bad-manifest' }));
  });

  it('refuses a repeated key', () => {
    const text = JSON.stringify(manifest).replace('"size":5', '"size":5,"size":6');
    expect(() => parseManifest(Buffer.from(text), 'test', defaultLimits)).toThrow(expect.objectContaining({ code: 'core/bad-json' }));
  });

  it('refuses more layers than the limit', () => {
    const limits = { ...defaultLimits, manifestLayers: 3 };
    const bytes = toJsonBytes({ ...manifest, layers: Array.from({ length: 4 }, () => layer) });
    expect(() => parseManifest(bytes, 'test', limits)).toThrow(expect.objectContaining({ message: expect.stringContaining('at most 3') }));
  });

  it('keeps an annotation called __proto__ a text', () => {
    const text = JSON.stringify(manifest).replace('"a":"b"', '"__proto__":"b"');
    const parsed = parseManifest(Buffer.from(text), 'test', defaultLimits);
    expect(parsed.kind === 'manifest' && Object.entries(parsed.manifest.annotations ?? {})).toEqual([['__proto__', 'b']]);
  });

  it('gives a value or a ToolkitError for whatever it is fed', () => {
    const text = JSON.stringify(manifest);
    const mutated = fc
      .tuple(fc.nat(text.length - 1), fc.string({ maxLength: 4 }))
      .map(([at, noise]) => text.slice(0, at) + noise + text.slice(at + noise.length));
    fc.assert(
      fc.property(fc.oneof(mutated, fc.json()), (input) => {
        try {
          parseManifest(Buffer.from(input), 'fuzz', defaultLimits);
        } catch (error) {
          expect(isToolkitError(error)).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
