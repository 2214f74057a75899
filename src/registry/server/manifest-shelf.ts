import { type BlobSource, type Descriptor, type Digest, isToolkitError, type Limits } from '../../core/index.js';
import { children, findSubject, isIndexType, isManifestType, type ParsedRoot, readManifest } from '../../oci/index.js';
import { Refusal } from './refusal.js';

/** What a registry has to know of a manifest, without its bytes. */
export interface ManifestFacts {
  /** Of an index: what it lists. */
  readonly manifests: readonly Descriptor[];
  /** Digest and size of what else it names. */
  readonly blobs: readonly (readonly [Digest, number])[];
  readonly subject?: Digest;
  /** As a descriptor in a list of referrers has it. (distribution-spec 1.1, Listing Referrers) */
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The manifests of a store, each read and verified once and then remembered: what a digest names never changes. */
export interface ManifestShelf {
  /** Undefined when it is not there, or is no manifest. A damaged one is a Refusal with status 500. */
  findFacts(descriptor: Descriptor): Promise<ManifestFacts | undefined>;
  /** Undefined when it is not there. */
  findBytes(descriptor: Descriptor): Promise<Uint8Array | undefined>;
}

const mostBytes = 32 * 1024 * 1024;
const mostFacts = 50_000;

export function createManifestShelf(store: BlobSource, limits: Limits): ManifestShelf {
  const facts = new Map<string, ManifestFacts>();
  const bytes = new Map<string, Uint8Array>();
  let held = 0;
  const keep = (key: string, content: Uint8Array) => {
    bytes.set(key, content);
    held += content.byteLength;
    for (const [oldest, { byteLength }] of bytes) {
      if (held <= mostBytes) break;
      bytes.delete(oldest);
      held -= byteLength;
    }
  };
  const read = async (descriptor: Descriptor) => {
    const found = await findManifest(store, descriptor, limits);
    if (found === undefined) return undefined;
    if (facts.size >= mostFacts) facts.clear();
    const known = toFacts(found.parsed);
    const key = toKey(descriptor);
    facts.set(key, known);
    if (!bytes.has(key)) keep(key, found.bytes);
    return { facts: known, bytes: found.bytes };
  };
  return {
    findFacts: async (descriptor) => facts.get(toKey(descriptor)) ?? (await read(descriptor))?.facts,
    findBytes: async (descriptor) => {
      const key = toKey(descriptor);
      const known = bytes.get(key);
      if (known === undefined || !(await store.has(descriptor))) return (await read(descriptor))?.bytes;
      // Asked for again, it is the last to go.
      bytes.delete(key);
      bytes.set(key, known);
      return known;
    },
  };
}

/** As it was promised: what was good as a manifest is not as an index. */
function toKey({ mediaType, digest }: Descriptor): string {
  return `${digest} ${mediaType}`;
}

/** Under a media type that nobody could have pushed it is none: an index that somebody else has written could make a web page of it. */
async function findManifest(
  store: BlobSource,
  descriptor: Descriptor,
  limits: Limits,
): Promise<Awaited<ReturnType<typeof readManifest>> | undefined> {
  if (!isManifestType(descriptor.mediaType) && !isIndexType(descriptor.mediaType)) return undefined;
  try {
    return await readManifest(store, descriptor, limits);
  } catch (error) {
    if (!isToolkitError(error)) throw error;
    const isDamaged = error.code === 'bytes/digest-mismatch' || error.code === 'bytes/size-mismatch';
    if (isDamaged) throw new Refusal(500, 'UNKNOWN', 'The registry holds damaged bytes under this digest', { cause: error });
    if (['store/blob-missing', 'oci/bad-manifest', 'core/bad-json', 'bytes/limit'].includes(error.code)) return undefined;
    throw error;
  }
}

export function toFacts(parsed: ParsedRoot): ManifestFacts {
  const named = children(parsed);
  const manifests = parsed.kind === 'index' ? named.filter(({ mediaType }) => isManifestType(mediaType) || isIndexType(mediaType)) : [];
  const blobs = named.filter((descriptor) => !manifests.includes(descriptor)).map(({ digest, size }) => [digest, size] as const);
  const subject = findSubject(parsed)?.digest;
  const artifactType = artifactTypeOf(parsed);
  const { annotations } = parsed.kind === 'index' ? parsed.index : parsed.manifest;
  return {
    manifests: manifests.map(({ mediaType, digest, size }) => ({ mediaType, digest, size })),
    blobs,
    ...(subject === undefined ? {} : { subject }),
    // Only in a list of referrers are they asked for.
    ...(subject === undefined || artifactType === undefined ? {} : { artifactType }),
    ...(subject === undefined || annotations === undefined ? {} : { annotations }),
  };
}

function artifactTypeOf(parsed: ParsedRoot): string | undefined {
  if (parsed.kind === 'index') return parsed.index.artifactType;
  return parsed.manifest.artifactType || parsed.manifest.config.mediaType;
}
