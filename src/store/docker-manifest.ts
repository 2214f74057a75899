import { type BlobSource, createError, type Descriptor, type Limits, type NamedDescriptor } from '../core/index.js';
import { isImageConfigType, type Manifest, mediaTypes, readManifest } from '../oci/index.js';
import { toMemberPath } from './blob-path.js';

const uncompressedTypes: readonly string[] = [mediaTypes.layer, mediaTypes.dockerLayer];

/** The `manifest.json` that `docker load` reads. Throws `store/not-an-image` for what Docker would not understand. */
export async function toDockerManifest(roots: readonly NamedDescriptor[], blobs: BlobSource, limits: Limits): Promise<string> {
  const images = new Map<string, { Config: string; RepoTags: string[]; Layers: string[] }>();
  for (const { name, descriptor } of roots) {
    const { config, layers } = await readImage(descriptor, blobs, limits);
    const image = images.get(descriptor.digest) ?? {
      Config: toMemberPath(config.digest),
      RepoTags: [],
      Layers: layers.map(({ digest }) => toMemberPath(digest)),
    };
    if (name !== undefined) image.RepoTags.push(name);
    images.set(descriptor.digest, image);
  }
  return JSON.stringify([...images.values()]);
}

async function readImage(descriptor: Descriptor, blobs: BlobSource, limits: Limits): Promise<Manifest> {
  const { parsed } = await readManifest(blobs, descriptor, limits);
  if (parsed.kind === 'index') throw refuse(descriptor, 'it is an index of several images', 'Name one of them by its digest');
  const { manifest } = parsed;
  if (!isImageConfigType(manifest.config.mediaType))
    throw refuse(descriptor, `it is no container image, its config is ${manifest.config.mediaType}`, 'Write an OCI archive: oci-archive:FILE');
  const compressed = manifest.layers.find((layer) => !uncompressedTypes.includes(layer.mediaType));
  if (compressed !== undefined)
    throw refuse(descriptor, `expected layers that are plain tars, found ${compressed.mediaType}`, 'Write an OCI archive: oci-archive:FILE');
  return manifest;
}

function refuse({ digest }: Descriptor, reason: string, hint: string): Error {
  return createError('store/not-an-image', { message: `Cannot write ${digest} into a docker archive: ${reason}`, hint, where: digest });
}
