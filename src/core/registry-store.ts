import type { BlobFinder, ByteStream, ContentStore, NamedDescriptor, StoredBlob, StoredContent } from './content.js';
import type { Digest, DigestAlgorithm } from './digest.js';
import { isRepository, isTag } from './reference.js';

/** The roots of a store, named or not, as one value that changes as a whole. */
export interface RootList {
  /**
   * What stands now: the same array as long as nothing has changed, by whomever, so that what was made of it can be kept. Of several roots with one
   * name the last counts.
   */
  readRoots(): readonly NamedDescriptor[];
  /**
   * `change` gets what stands while nobody else may write, and must be quick; what it gives back takes its place at once or not at all. The array it
   * got means that nothing changes. What it throws is thrown, and nothing has changed. Every root has to be there as a blob (`store/blob-missing`).
   */
  changeRoots(change: (roots: readonly NamedDescriptor[]) => readonly NamedDescriptor[]): Promise<void>;
}

/**
 * On a root: the repository of a registry that it belongs to. It says so for a manifest without a tag, and where the name of one with a tag would be
 * read as that of another host.
 */
export const repositoryAnnotation = 'dev.modelport.repository';

/** What a root says of its repository; undefined when it says nothing, or what cannot be: a name is that of the repository and a tag. */
export function findNotedRepository({ name, descriptor }: NamedDescriptor): string | undefined {
  const noted = descriptor.annotations?.[repositoryAnnotation];
  if (noted === undefined || !isRepository(noted)) return undefined;
  return name === undefined || (name.startsWith(`${noted}:`) && isTag(name.slice(noted.length + 1))) ? noted : undefined;
}

/**
 * Blobs that a repository was given and that no manifest of it need name: what is pushed before its manifest. A claim outlives the process; it protects
 * its blob for a day, after which a collector may take both.
 */
export interface BlobClaims {
  /** Begins, or begins anew. Durable when the promise resolves. */
  claim(repository: string, digest: Digest): Promise<void>;
  /** Whether the claim stands and its blob is there. */
  hasClaim(repository: string, digest: Digest): boolean;
  listClaims(repository: string): readonly Digest[];
  /** Repositories with claims; some of those may be on blobs that are gone. */
  listClaimants(): readonly string[];
  /** False when there was none. The blob stays until it is collected. */
  dropClaim(repository: string, digest: Digest): Promise<boolean>;
  /** Tells a collector that somebody counts on a blob, as who was told that it is there will not send it. False when it is not there. */
  touch(digest: Digest): boolean;
}

/** Bytes on their way into a store, in as many pieces and over as many runs of the program as it takes. One caller works on it at a time. */
export interface Upload {
  /** Of this store, and not to be guessed: 32 hex digits. */
  readonly id: string;
  readonly repository: string;
  /** How many bytes are there. */
  readonly size: number;
  /**
   * Adds bytes at the end; those that came before `stream` failed stay. `expectedBytes`: how long the stream is likely to be, for the choice of buffers
   * and threads.
   */
  append(stream: ByteStream, expectedBytes?: number): Promise<void>;
  /**
   * The bytes become a blob that the repository has a claim on, both durable when the promise resolves, and the upload is over. Bytes that were not
   * hashed on their way in, or by another algorithm, are read once. Throws `bytes/digest-mismatch` when they are not what was promised; the upload is
   * over then too.
   */
  finish(digest: Digest): Promise<StoredBlob>;
  /** Removes it. */
  cancel(): Promise<void>;
}

export interface UploadStore {
  /** `algorithm`: by which the bytes are hashed on their way in. */
  beginUpload(repository: string, algorithm: DigestAlgorithm): Promise<Upload>;
  /** Also one of an earlier run. Undefined for an unknown id and for a text that is none. The same object for the same upload while it is open. */
  findUpload(id: string): Promise<Upload | undefined>;
  /** How many have begun and are neither finished nor cancelled. */
  countUploads(): number;
  /** Removes those to which nothing was added for `ageMs`. Gives how many. */
  purgeUploads(ageMs: number): Promise<number>;
}

/** A blob on its way into a store, to be read as far as it has come. Close it. */
export interface GrowingBlob {
  /** Waits until there are bytes at `offset`, and fills as much of `buffer` as there are. 0 at the end, and only once all bytes have been verified. Throws what the put threw. */
  read(buffer: Uint8Array, offset: number): Promise<number>;
  close(): Promise<void>;
}

export interface BlobRelay {
  /**
   * Puts a blob of another place and lets it be read meanwhile. Whoever asks for the same blob while it comes shares the one transfer, which goes
   * on to its end also when nobody reads any more, unless `signal` says otherwise.
   */
  relay(content: StoredContent, signal?: AbortSignal): Promise<GrowingBlob>;
}

export interface PutLeases {
  /** While it is held, no collector takes what was put since then: to be held from a put until a root holds the blob. */
  lease(): Promise<{ release(): void }>;
}

/** What a registry is served from: a layout on the disk, or memory. */
export interface RegistryStore extends ContentStore, BlobFinder, RootList, BlobClaims, UploadStore, BlobRelay, PutLeases {}
