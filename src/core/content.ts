import type { Descriptor } from './descriptor.js';
import type { Digest } from './digest.js';
import type { ProgressItem } from './progress.js';

/**
 * Bytes in order. A chunk is valid until the second next one is asked for, so that one can be worked on while the next is made; buffers
 * are reused after that: copy what you keep. Chunks may be empty; a stream between two others hands those on, as an empty one at the end says that
 * all before has been worked on.
 * Ending the loop early closes what lies below.
 */
export type ByteStream = AsyncIterable<Uint8Array>;

/** Half-open: `start` is the first byte, `end` the first byte that is not wanted; without `end` up to the last. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

/** Bytes that can be read at any offset, as a file or a ranged download. `read` gives exactly `length` bytes or throws `bytes/size-mismatch`. */
export interface RandomAccess {
  readonly size: number;
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** The same, with long pieces as streams: a file, or a file at a server that gives ranges. */
export interface RangeSource extends RandomAccess {
  /** Throws `bytes/size-mismatch` when it ends early; nothing else is verified. */
  stream(range: ByteRange): Promise<ByteStream>;
}

/** Where bytes are, by digest. */
export interface BlobSource {
  has(descriptor: Descriptor): Promise<boolean>;
  /**
   * Without a range the bytes are counted and hashed while they are read, and the last step throws `bytes/digest-mismatch` or
   * `bytes/size-mismatch` when they are not what the descriptor promised. With a range nothing is verified.
   */
  open(descriptor: Descriptor, range?: ByteRange): Promise<ByteStream>;
}

/** Finds a blob by its digest alone. The media type of what is found is unknown (`application/octet-stream`). */
export interface BlobFinder {
  findBlob(digest: Digest): Promise<Descriptor | undefined>;
}

/** One file of a tar layer that is still to be made. `mtime` counts seconds since 1970. */
export interface TarMember {
  readonly name: string;
  readonly mode: number;
  readonly mtime: number;
  readonly content: FileContent | DirectoryContent | MemberStream;
}

/** A whole file on this machine; `path` is absolute. `size` is what stat said: a file that changes afterwards is refused. */
export interface FileContent {
  readonly kind: 'file';
  readonly path: string;
  readonly size: number;
  /** From the same stat as `size`, for whoever remembers digests; without it the file is looked at again. */
  readonly identity?: FileIdentity;
}

/** What tells one state of a file from another without reading it. */
export interface FileIdentity {
  /** Device, inode, size, and the times of content and attributes in nanoseconds. */
  readonly key: string;
  /** When the file system last saw a change, in milliseconds since 1970; programs cannot set it. */
  readonly changedMs: number;
}

export interface DirectoryContent {
  readonly kind: 'directory';
}

/** Bytes that come from elsewhere, of a size known beforehand (a tar header needs it). */
export interface MemberStream {
  readonly kind: 'stream';
  readonly size: number;
  open(): Promise<ByteStream>;
}

export type Compression = 'none' | 'gzip' | 'zstd';

/** A tar layer to be made: members in the order given. */
export interface TarContent {
  readonly kind: 'tar';
  readonly members: readonly TarMember[];
  readonly compression: Compression;
}

export interface BytesContent {
  readonly kind: 'bytes';
  readonly bytes: Uint8Array;
}

export interface StreamContent {
  readonly kind: 'stream';
  readonly size?: number;
  open(): Promise<ByteStream>;
}

/** A blob that another place holds. It can be opened at any offset, so that a sink can go on where an earlier run stopped. */
export interface StoredContent {
  readonly kind: 'blob';
  readonly blobs: BlobSource;
  readonly descriptor: Descriptor;
}

/** What can be put into a sink: bytes that exist, or a recipe for them, so that a sink near the disk can work without a detour. */
export type BlobContent = BytesContent | FileContent | StoredContent | StreamContent | TarContent;

export interface PutOptions {
  /** Refuse bytes that hash to something else. A sink may skip the work when it holds this digest already. */
  readonly expected?: { readonly digest: Digest; readonly size: number };
  /** For places that keep manifests apart from other blobs; without it the bytes are a blob. */
  readonly mediaType?: string | undefined;
  /** Advanced while bytes are worked on; whoever calls `put` started it and ends it. */
  readonly progress?: ProgressItem;
  readonly signal?: AbortSignal | undefined;
}

/** What a sink knows about a blob after it is safely there. */
export interface StoredBlob {
  readonly digest: Digest;
  readonly size: number;
  /** Digest of the bytes before compression, when the sink made or knew them. */
  readonly diffId?: Digest;
  /** False when the sink held the bytes already and nothing was written. */
  readonly fresh: boolean;
}

/** All or nothing: after a failure nothing of the blob is visible. */
export interface BlobSink {
  put(content: BlobContent, options?: PutOptions): Promise<StoredBlob>;
}

/** What bytes hash to, once they have been read. */
export interface KnownDigest {
  readonly digest: Digest;
  readonly size: number;
  readonly diffId?: Digest;
}

/**
 * Remembers the digests of files that have not changed since they were hashed, so that packing again reads nothing. It may forget
 * anything at any time, and losing the file costs time only. Safe with several processes.
 */
export interface DigestCache {
  /**
   * What the content is made of, by identity of every file in it (device, inode, size, times in ns). Undefined for content that cannot be
   * recognised again, or that changed so lately that a further change might not show. To be asked before the files are read.
   */
  identify(content: BlobContent): string | undefined;
  find(identity: string): KnownDigest | undefined;
  /** Keeps a digest under the identity from before reading; does nothing when the files have changed since. */
  remember(identity: string, content: BlobContent, known: KnownDigest): Promise<void>;
}

/** Finds what points to a package by its `subject`: signatures, attestations, and other things that were attached. */
export interface ReferrerSource {
  /** Descriptors of manifests, with artifact type and annotations; with `artifactType` only those of that type. */
  listReferrers(subject: Digest, artifactType?: string): Promise<readonly Descriptor[]>;
}

/** Names in a store. `resolve` and `list` say what the index holds; nothing is read behind it. */
export interface Names {
  resolve(name: string): Promise<Descriptor | undefined>;
  tag(name: string, descriptor: Descriptor): Promise<void>;
  list(): Promise<readonly NamedDescriptor[]>;
}

export interface NamedDescriptor {
  /** Absent for a root that has no name. */
  readonly name?: string;
  readonly descriptor: Descriptor;
}

/** A store that can be read and written by digest and by name: the local store, a layout, an archive, memory, a remote repository. */
export interface ContentStore extends BlobSource, BlobSink, Names {}
