import { decompress, sniffCompression, type UnpackSource } from '../../bytes/index.js';
import {
  type ByteStream,
  createError,
  type Descriptor,
  type Limits,
  type OciSource,
  type PackageSource,
  type ReadOptions,
} from '../../core/index.js';
import { parseFileMetadata } from './file-metadata.js';
import { lookInto } from './layer-content.js';
import type { LayerView } from './manifest-view.js';
import { findLayerPath, pathOf, placeEntries } from './placement.js';
import { openModelpack } from './read.js';
import { annotationKeys, formerMetadataKey } from './spec.js';

export interface UnpackPlan {
  /** Layers of the draft are one stacked tree, those of the other vintages stand side by side. */
  readonly policy: 'package' | 'image';
  readonly sources: readonly UnpackSource[];
}

/**
 * What `unpackPackage` is given for a ModelPack: one source a layer, in the order of the manifest. Size and digest of a
 * blob are checked while it passes. Nothing is judged here. Throws `modelpack/unreadable`, also for a layer whose descriptor is malformed.
 */
export async function listUnpackSources(source: PackageSource, options: ReadOptions): Promise<UnpackPlan> {
  const { oci, view, vintage } = openModelpack(source, options);
  const policy = vintage === 'draft-2024' ? 'image' : 'package';
  const sources: UnpackSource[] = [];
  for (const layer of view.layers) sources.push(await toSource(layer, policy, oci, options.limits));
  return { policy, sources };
}

async function toSource(layer: LayerView, policy: UnpackPlan['policy'], source: OciSource, limits: Limits): Promise<UnpackSource> {
  const { descriptor } = layer;
  if (descriptor === undefined) {
    throw createError('modelpack/unreadable', {
      message: `Cannot unpack "${source.location}": ${layer.where} has no usable mediaType, digest and size`,
      where: layer.where,
    });
  }
  if (layer.type === undefined || layer.type.encoding === 'raw') return toFile(layer, descriptor, source);
  const path = findLayerPath(layer.annotations);
  const where = path === undefined ? layer.where : `${layer.where} "${path}"`;
  const open = async () => decoded(await source.blobs.open(descriptor), limits, where);
  if (policy === 'image' || path?.includes('/') !== true) return { kind: 'tar', where, open };
  const { entries } = await lookInto(layer, source.blobs, limits);
  return { kind: 'tar', where, open, place: placeEntries(path, entries) };
}

function toFile(layer: LayerView, descriptor: Descriptor, source: OciSource): UnpackSource {
  const { cncf, cnai } = annotationKeys;
  const text = layer.annotations[cncf.metadata] ?? layer.annotations[cnai.metadata] ?? layer.annotations[formerMetadataKey];
  const { mode, mtime, uid, gid } = text === undefined ? {} : parseFileMetadata(text).metadata;
  return {
    kind: 'blob',
    path: pathOf(layer),
    ...(mode === undefined ? {} : { mode: mode & 0o7777 }),
    ...(mtime === undefined ? {} : { mtime }),
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
    blobs: source.blobs,
    descriptor,
  };
}

/** The bytes decide how they are compressed, as in reading. */
async function* decoded(stream: ByteStream, limits: Limits, where: string): ByteStream {
  const iterator = stream[Symbol.asyncIterator]();
  const first = await iterator.next();
  const compression = first.done === true ? 'none' : sniffCompression(first.value);
  const whole = resume(first, iterator);
  yield* compression === 'none' ? whole : decompress(whole, compression, { limits, where });
}

async function* resume(first: IteratorResult<Uint8Array>, iterator: AsyncIterator<Uint8Array>): ByteStream {
  try {
    for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}
