import { describe, expect, it } from 'vitest';
import { emptyDescriptor, emptyJson } from './descriptor.js';
import { isImageLayerType, isIndexType, isManifestType, mediaTypes } from './media-types.js';
import { serialize } from './serialize.js';

describe('media types', () => {
  it('tells manifests, indexes and image layers apart', () => {
    expect([mediaTypes.manifest, mediaTypes.dockerManifest, mediaTypes.index].map(isManifestType)).toEqual([true, true, false]);
    expect([mediaTypes.index, mediaTypes.dockerIndex, mediaTypes.manifest].map(isIndexType)).toEqual([true, true, false]);
    const layers = [
      mediaTypes.layer,
      mediaTypes.layerGzip,
      mediaTypes.layerZstd,
      mediaTypes.dockerLayer,
      mediaTypes.dockerLayerGzip,
      'application/vnd.oci.image.layer.nondistributable.v1.tar+gzip',
    ];
    expect(layers.filter((type) => !isImageLayerType(type))).toEqual([]);
    expect(['application/vnd.cncf.model.weight.v1.tar', mediaTypes.imageConfig, `${mediaTypes.layer}+xz`].some(isImageLayerType)).toBe(false);
  });

  it('has the right digest for the empty blob', () => {
    expect(serialize({}, mediaTypes.empty)).toEqual({ bytes: emptyJson, descriptor: emptyDescriptor });
  });
});
