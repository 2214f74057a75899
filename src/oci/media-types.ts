/** Media types of the OCI image specification (media-types.md) and their Docker schema 2 twins. */
export const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  imageConfig: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
  layerGzip: 'application/vnd.oci.image.layer.v1.tar+gzip',
  layerZstd: 'application/vnd.oci.image.layer.v1.tar+zstd',
  empty: 'application/vnd.oci.empty.v1+json',
  octetStream: 'application/octet-stream',
  dockerManifest: 'application/vnd.docker.distribution.manifest.v2+json',
  dockerIndex: 'application/vnd.docker.distribution.manifest.list.v2+json',
  dockerImageConfig: 'application/vnd.docker.container.image.v1+json',
  dockerLayer: 'application/vnd.docker.image.rootfs.diff.tar',
  dockerLayerGzip: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
} as const;

/** Annotation keys that every kind of artifact uses. (annotations.md, Pre-Defined Annotation Keys) */
export const annotationKeys = {
  refName: 'org.opencontainers.image.ref.name',
  title: 'org.opencontainers.image.title',
} as const;

const manifestTypes: readonly string[] = [mediaTypes.manifest, mediaTypes.dockerManifest];
const indexTypes: readonly string[] = [mediaTypes.index, mediaTypes.dockerIndex];
const imageConfigTypes: readonly string[] = [mediaTypes.imageConfig, mediaTypes.dockerImageConfig];

/** Layers of a root file system, the deprecated non-distributable ones included. */
const imageLayerGrammar =
  /^application\/vnd\.(?:oci\.image\.layer(?:\.nondistributable)?\.v1\.tar(?:\+gzip|\+zstd)?|docker\.image\.rootfs\.(?:diff|foreign\.diff)\.tar(?:\.gzip|\.zstd)?)$/;

export function isManifestType(mediaType: string): boolean {
  return manifestTypes.includes(mediaType);
}

export function isIndexType(mediaType: string): boolean {
  return indexTypes.includes(mediaType);
}

export function isImageConfigType(mediaType: string): boolean {
  return imageConfigTypes.includes(mediaType);
}

export function isImageLayerType(mediaType: string): boolean {
  return imageLayerGrammar.test(mediaType);
}
