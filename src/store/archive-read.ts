import { fromBytes, fromFile, openFileAccess, scanTar, verified } from '../bytes/index.js';
import {
  type BlobFinder,
  type BlobSource,
  type ByteCounters,
  type ByteRange,
  type ByteStream,
  createCounters,
  createError,
  defaultLimits,
  type Descriptor,
  type Digest,
  type Finding,
  type Limits,
  type NamedDescriptor,
  type Names,
} from '../core/index.js';
import { mediaTypes } from '../oci/index.js';
import { createMembers, type Members } from './archive-members.js';
import { findBlobDigest } from './blob-path.js';
import { type BlobPlace, readDockerImages } from './docker-archive.js';
import { listNamed, listRepeated, parseLayoutIndex } from './layout-index.js';
import { type ArchiveKind, sniffArchive, toArchiveKind } from './locate.js';

/** An archive that is read where it lies: each blob by its offset, nothing is unpacked. */
export interface Archive extends BlobSource, BlobFinder, Omit<Names, 'tag'> {
  readonly kind: ArchiveKind;
  readonly path: string;
  listFindings(): Promise<readonly Finding[]>;
}

export interface ArchiveOptions {
  readonly counters?: ByteCounters;
  readonly limits?: Limits;
  /** What the person called it; absent: decided by content, the OCI side of a file that is both. */
  readonly kind?: ArchiveKind;
}

/**
 * Opens an OCI archive or what `docker save` wrote; headers and the small JSON files are read. Nothing has to be closed.
 * Throws `store/not-a-layout`, `bytes/bad-archive`.
 */
export async function openArchive(path: string, options: ArchiveOptions = {}): Promise<Archive> {
  const { limits = defaultLimits, counters = createCounters() } = options;
  const sniffed = await sniffArchive(path, limits);
  if (sniffed === 'gzip') throw compressed(path);
  if (sniffed === undefined)
    throw createError('store/not-a-layout', { message: `Cannot open "${path}" as an archive: it is not a tar`, where: path });
  const access = await openFileAccess(path, counters);
  try {
    const members = createMembers(path, access, await scanTar(access, { limits, where: path }));
    const kind = judgeKind(members, options.kind);
    const content = kind === 'oci-archive' ? await readOciArchive(members, limits) : { ...(await readDockerImages(members, limits)), findings: [] };
    return toArchive(path, kind, content, counters);
  } finally {
    await access.close();
  }
}

interface ArchiveContent {
  readonly roots: readonly NamedDescriptor[];
  readonly blobs: ReadonlyMap<Digest, BlobPlace>;
  readonly findings: readonly Finding[];
}

function judgeKind(members: Members, wanted: ArchiveKind | undefined): ArchiveKind {
  const names = members.names();
  const found = toArchiveKind(names);
  if (found === 'tar' || (wanted === 'oci-archive' && found !== wanted) || (wanted === 'docker-archive' && !names.has('manifest.json'))) {
    throw createError('store/not-a-layout', {
      message: `Cannot open "${members.path}" as ${wanted ?? 'an OCI or docker archive'}: it is a tar without ${wanted === 'docker-archive' ? 'manifest.json' : 'oci-layout and index.json'}`,
      where: members.path,
    });
  }
  return wanted ?? found;
}

/** Members that are not exactly `blobs/ALGORITHM/HEX` are nobody's blob, whatever they are called. */
async function readOciArchive(members: Members, limits: Limits): Promise<ArchiveContent> {
  const where = `${members.path}: index.json`;
  const index = parseLayoutIndex(await members.read('index.json', limits.layoutIndexBytes), where, limits);
  const blobs = new Map<Digest, BlobPlace>();
  for (const [name, member] of members.files()) {
    const digest = findBlobDigest(name);
    if (digest !== undefined) blobs.set(digest, { kind: 'member', member });
  }
  return { roots: listNamed(index), blobs, findings: listRepeated(index, where) };
}

function toArchive(path: string, kind: ArchiveKind, { roots, blobs, findings }: ArchiveContent, counters: ByteCounters): Archive {
  return {
    kind,
    path,
    findBlob: async (digest) => {
      const size = findSize(blobs.get(digest));
      return size === undefined ? undefined : { mediaType: mediaTypes.octetStream, digest, size };
    },
    has: async ({ digest, size }) => findSize(blobs.get(digest)) === size,
    open: async (descriptor, range) => {
      const bytes = openPlace(path, toPlace(path, blobs, descriptor), range, counters);
      return range === undefined ? verified(bytes, descriptor, `the blob ${descriptor.digest}`, counters) : bytes;
    },
    resolve: async (name) => roots.findLast((root) => root.name === name)?.descriptor,
    list: async () => roots,
    listFindings: async () => findings,
  };
}

function findSize(place: BlobPlace | undefined): number | undefined {
  return place?.kind === 'member' ? place.member.size : place?.bytes.byteLength;
}

function toPlace(path: string, blobs: ReadonlyMap<Digest, BlobPlace>, { digest, size }: Descriptor): BlobPlace {
  const place = blobs.get(digest);
  if (place === undefined)
    throw createError('store/blob-missing', { message: `Cannot read the blob ${digest}: it is not in "${path}"`, where: digest });
  const found = findSize(place);
  if (found === size) return place;
  throw createError('bytes/size-mismatch', {
    message: `Cannot use the blob ${digest} of "${path}": expected ${size} bytes, found ${found}`,
    where: digest,
  });
}

function openPlace(path: string, place: BlobPlace, range: ByteRange | undefined, counters: ByteCounters): ByteStream {
  if (place.kind === 'bytes') return fromBytes(place.bytes.subarray(range?.start, range?.end));
  const { offset, size } = place.member;
  const start = Math.min(range?.start ?? 0, size);
  const end = Math.max(start, Math.min(range?.end ?? size, size));
  return fromFile(path, { start: offset + start, end: offset + end }, counters);
}

function compressed(path: string): Error {
  return createError('store/not-a-layout', {
    message: `Cannot open "${path}" as an archive: it is compressed with gzip, so that no layer could be read by itself`,
    hint: `Decompress it first: gunzip -c ${JSON.stringify(path)} > archive.tar`,
    where: path,
  });
}
