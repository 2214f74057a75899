import { accessPart, decompress, readTar, scanTar, sniffCompression, type TarEntry } from '../../bytes/index.js';
import {
  type BlobSource,
  type Compression,
  createError,
  type Descriptor,
  type ErrorCode,
  isToolkitError,
  type Limits,
  type RandomAccess,
} from '../../core/index.js';
import type { LayerView } from './manifest-view.js';

/** What is known of a layer after a look at its first bytes and, for a tar, at its headers. */
export interface LayerContent {
  /** As the bytes say; undefined when they could not be had. */
  readonly compression?: Compression;
  /** True when the bytes as they are begin like a tar archive. */
  readonly looksLikeTar: boolean;
  /** Of a tar layer that could be listed. */
  readonly entries?: readonly TarEntry[];
  /** Names of records of one platform in the first header: extended attributes, access times. */
  readonly platformRecords: readonly string[];
  readonly problem?: LayerProblem;
}

export interface LayerProblem {
  /** `missing`: no bytes; `malformed`: not what they should be; `too-large`: a compressed layer beyond the limit for listing. */
  readonly kind: 'missing' | 'malformed' | 'too-large';
  readonly message: string;
}

const headBytes = 4096;

/** A list is not worth decompressing gigabytes that a few kilobytes swell to. */
const listedRatio = 32;

/**
 * Looks into a layer without reading more than needed: 4 KiB of a raw one, the headers of a plain tar, all of a compressed tar up to
 * `limits.listedLayerBytes`. What the bytes are decides, not the media type. Trouble with the data is a problem in the result; trouble
 * with the network or the disk is thrown.
 */
export async function lookInto(layer: LayerView, blobs: BlobSource, limits: Limits): Promise<LayerContent> {
  const { descriptor } = layer;
  if (descriptor === undefined)
    return { looksLikeTar: false, platformRecords: [], problem: { kind: 'missing', message: 'its descriptor is malformed' } };
  const head = await attempt(() => accessBlob(blobs, descriptor).read(0, Math.min(headBytes, descriptor.size)));
  if (head.problem !== undefined) return { looksLikeTar: false, platformRecords: [], problem: { ...head.problem, kind: 'missing' } };
  const compression = sniffCompression(head.value);
  const looksLikeTar = compression === 'none' && hasTarMagic(head.value);
  const known = { compression, looksLikeTar, platformRecords: looksLikeTar ? listPlatformRecords(head.value) : [] };
  if (layer.type === undefined || layer.type.encoding === 'raw') return known;
  const listed = await attempt(() => listEntries(layer, descriptor, compression, blobs, limits));
  return { ...known, ...(listed.problem === undefined ? { entries: listed.value } : { problem: listed.problem }) };
}

type Attempt<T> = { readonly value: T; readonly problem?: undefined } | { readonly problem: LayerProblem };

/** Wrong data and absent blobs become problems. */
async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!isToolkitError(error)) throw error;
    if (isAbsence(error)) return { problem: { kind: 'missing', message: error.message } };
    if (error.exitCode !== 1) throw error;
    return { problem: { kind: error.code === 'bytes/limit' ? 'too-large' : 'malformed', message: error.message } };
  }
}

/** True for the errors with which a store says that it does not hold a blob. */
export function isAbsence(error: unknown): boolean {
  const codes: readonly ErrorCode[] = ['oci/not-found', 'store/blob-missing', 'bytes/not-found', 'registry/not-found'];
  return isToolkitError(error) && codes.includes(error.code);
}

async function listEntries(
  layer: LayerView,
  descriptor: Descriptor,
  compression: Compression,
  blobs: BlobSource,
  limits: Limits,
): Promise<readonly TarEntry[]> {
  const options = { limits, where: layer.where, openEnded: layer.type?.family === 'image' };
  if (compression === 'none') return scanTar(accessBlob(blobs, descriptor), options);
  if (descriptor.size > limits.listedLayerBytes) {
    throw createError('bytes/limit', {
      message: `Cannot list the files of ${layer.where}: it is compressed and ${descriptor.size} bytes long, and at most ${limits.listedLayerBytes} are decompressed for a list`,
      where: layer.where,
    });
  }
  const bounded = { ...options, limits: { ...limits, unpackedBytes: Math.min(limits.unpackedBytes, limits.listedLayerBytes * listedRatio) } };
  const entries: TarEntry[] = [];
  await readTar(decompress(await blobs.open(descriptor), compression, bounded), bounded, (entry) => {
    entries.push(entry);
    return undefined;
  });
  return entries;
}

/** Every read is one ranged request; there is nothing to close. */
function accessBlob(blobs: BlobSource, descriptor: Descriptor): RandomAccess {
  return accessPart({ kind: 'blob', blobs, descriptor }, descriptor.size);
}

const magicOffset = 257;
const typeOffset = 156;
const blockBytes = 512;

function hasTarMagic(head: Uint8Array): boolean {
  return Buffer.from(head).toString('latin1', magicOffset, magicOffset + 5) === 'ustar';
}

/** Of a pax header at the very beginning: one look is enough, since tools write such records for every entry or none. */
function listPlatformRecords(head: Uint8Array): string[] {
  const type = String.fromCharCode(head[typeOffset] ?? 0);
  if (type !== 'x' && type !== 'g') return [];
  const text = Buffer.from(head).toString('latin1', blockBytes);
  return [...text.matchAll(/(?:^|\n)\d+ ((?:SCHILY|LIBARCHIVE|GNU|MSWINDOWS|RHT)\.[A-Za-z.]+|atime|ctime)[^=\n]*=/g)].map(
    (match) => match[1] as string,
  );
}
