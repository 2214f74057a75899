import { digestOf, sniffCompression } from '../bytes/index.js';
import {
  createError,
  type Descriptor,
  type Digest,
  isDigest,
  isJsonObject,
  type JsonObject,
  type Limits,
  type NamedDescriptor,
  parseJson,
} from '../core/index.js';
import { mediaTypes, serialize } from '../oci/index.js';
import { badArchive, type Member, type Members } from './archive-members.js';

/** Where the bytes of a blob of an archive are. */
export type BlobPlace = { readonly kind: 'member'; readonly member: Member } | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

export interface DockerImages {
  readonly roots: readonly NamedDescriptor[];
  readonly blobs: ReadonlyMap<Digest, BlobPlace>;
}

/**
 * What `docker save` writes has no manifests, so each image gets one: the same archive always gives the same bytes. Its layers
 * are uncompressed tars, so their digests are the diff ids that the image's config states; compressed ones are named by their digest.
 */
export async function readDockerImages(members: Members, limits: Limits): Promise<DockerImages> {
  const list = parseJson(await members.read('manifest.json', limits.manifestBytes), `${members.path}: manifest.json`, {
    bytes: limits.manifestBytes,
  });
  if (!Array.isArray(list)) throw badArchive(members.path, 'manifest.json: expected an array of images');
  const roots: NamedDescriptor[] = [];
  const blobs = new Map<Digest, BlobPlace>();
  for (const [index, image] of list.entries()) {
    const { Config, Layers, RepoTags } = parseImage(image, `manifest.json[${index}]`, members.path);
    const descriptor = await addImage(Config, Layers, members, limits, blobs);
    roots.push(...(RepoTags.length === 0 ? [{ descriptor }] : RepoTags.map((name) => ({ name, descriptor }))));
  }
  return { roots, blobs };
}

interface DockerImage {
  readonly Config: string;
  readonly Layers: readonly string[];
  readonly RepoTags: readonly string[];
}

function parseImage(value: unknown, field: string, path: string): DockerImage {
  const { Config, Layers, RepoTags }: JsonObject = isJsonObject(value) ? value : {};
  const tags = RepoTags ?? [];
  if (typeof Config !== 'string' || !isTexts(Layers) || !isTexts(tags)) {
    throw badArchive(path, `${field}: expected Config, Layers and RepoTags as docker save writes them`);
  }
  return { Config, Layers, RepoTags: tags };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

async function addImage(
  configName: string,
  layerNames: readonly string[],
  members: Members,
  limits: Limits,
  blobs: Map<Digest, BlobPlace>,
): Promise<Descriptor> {
  const configBytes = await members.read(configName, limits.configBytes);
  const diffIds = parseDiffIds(configBytes, `${members.path}: ${configName}`, limits);
  if (diffIds.length !== layerNames.length || diffIds.length > limits.manifestLayers) {
    throw badArchive(members.path, `the image has ${layerNames.length} layers, its config "${configName}" has ${diffIds.length}`);
  }
  const config: Descriptor = { mediaType: mediaTypes.imageConfig, digest: digestOf(configBytes), size: configBytes.byteLength };
  blobs.set(config.digest, { kind: 'bytes', bytes: configBytes });
  const layers: Descriptor[] = [];
  for (const [index, name] of layerNames.entries()) layers.push(await addLayer(name, diffIds[index] as Digest, members, blobs));
  const { bytes, descriptor } = serialize({ schemaVersion: 2, mediaType: mediaTypes.manifest, config, layers }, mediaTypes.manifest);
  blobs.set(descriptor.digest, { kind: 'bytes', bytes });
  return descriptor;
}

async function addLayer(name: string, digest: Digest, members: Members, blobs: Map<Digest, BlobPlace>): Promise<Descriptor> {
  const member = members.find(name);
  if (member === undefined) throw badArchive(members.path, `the layer "${name}" is missing`);
  const compression = sniffCompression(await members.head(member, 4));
  const layer =
    compression === 'none'
      ? { mediaType: mediaTypes.layer, digest }
      : { mediaType: compressedTypes[compression], digest: toNamedDigest(name, members.path) };
  blobs.set(layer.digest, { kind: 'member', member });
  return { ...layer, size: member.size };
}

const compressedTypes = { gzip: mediaTypes.layerGzip, zstd: mediaTypes.layerZstd } as const;

/** The config knows the digest of the uncompressed bytes alone, but who writes compressed layers names them by their own. Reading proves it. */
function toNamedDigest(name: string, path: string): Digest {
  const digest = `sha256:${/^([0-9a-f]{64})\.tar\.(?:gz|zst)$/.exec(name)?.[1] ?? ''}`;
  if (isDigest(digest)) return digest;
  throw badArchive(path, `the layer "${name}" is compressed, and neither its name nor the config says the digest of its bytes`);
}

function parseDiffIds(bytes: Uint8Array, where: string, limits: Limits): Digest[] {
  const config = parseJson(bytes, where, { bytes: limits.configBytes, depth: limits.jsonDepth });
  const rootfs = isJsonObject(config) ? config['rootfs'] : undefined;
  const diffIds = isJsonObject(rootfs) ? (rootfs['diff_ids'] ?? []) : undefined;
  if (!Array.isArray(diffIds) || !diffIds.every(isDigest)) {
    throw createError('bytes/bad-archive', {
      message: `Cannot read the image config "${where}": rootfs.diff_ids: expected an array of digests`,
      where,
    });
  }
  return diffIds;
}
