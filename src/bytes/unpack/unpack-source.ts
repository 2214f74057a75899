import type { BlobSource, ByteCounters, ByteStream, Descriptor, Finding, Limits, Progress } from '../../core/index.js';

/** Where files of a package come from. Streams verify themselves: one that ends without throwing gave the right bytes. */
export type UnpackSource = UnpackBlob | UnpackFile | UnpackTar;

/** One file as it is. `mtime` counts seconds since 1970. */
export interface UnpackFile {
  readonly kind: 'file';
  readonly path: string;
  readonly size: number;
  readonly mode?: number;
  readonly mtime?: number;
  readonly uid?: number;
  readonly gid?: number;
  open(): Promise<ByteStream>;
}

/** One file that is a whole blob, so that it can be fetched in parts, or shared. */
export interface UnpackBlob {
  readonly kind: 'blob';
  readonly path: string;
  readonly mode?: number;
  readonly mtime?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly blobs: BlobSource;
  readonly descriptor: Descriptor;
}

/** An archive; `open` gives uncompressed tar bytes, and may be called a second time when a hard link needs a file that was passed over. */
export interface UnpackTar {
  readonly kind: 'tar';
  /** What it is called in errors. */
  readonly where: string;
  open(): Promise<ByteStream>;
  /** Entry name → path in the package; undefined leaves the entry out. Without it the name is the path. */
  readonly place?: (entryName: string) => string | undefined;
}

export interface BlobFiles {
  /** The path of a file that holds exactly this blob, that nobody writes to, and that lies on the same disk as the target; undefined without one. */
  findFile(descriptor: Descriptor): string | undefined;
}

export interface UnpackOptions {
  /**
   * `package`: what could do harm, or is there twice, has the whole package refused. `image`: the sources are the layers of one
   * tree, lowest first; devices, set-id bits and links out of the root are legal there and are left out.
   */
  readonly policy: 'package' | 'image';
  readonly limits: Limits;
  /** Judges paths in the package; what is not selected is still judged, and not written. */
  readonly select?: (path: string) => boolean;
  /** Gives files to the numeric owners that the package names. */
  readonly sameOwner?: boolean;
  /** Files of the package replace those of an existing folder; other files stay. */
  readonly overwrite?: boolean;
  /** Sources at a time, 4 by default; the layers of an image come one after the other. */
  readonly concurrency?: number;
  /**
   * Names the package (its root digest) where the sources are far away: after a failure of the world, a kill or a power cut, large blobs
   * stay in a hidden folder, and unpacking the same package to the same target goes on from there. Policy `package` only.
   */
  readonly resumeKey?: string;
  /** For a tree that many targets share: its files get no write bits, and a blob that is a file for itself is cloned or linked instead of written. */
  readonly sharing?: BlobFiles;
  readonly counters?: ByteCounters;
  readonly progress?: Progress;
  readonly signal?: AbortSignal;
}

export interface UnpackResult {
  /** Files and links. */
  readonly files: number;
  /** Content of the files. */
  readonly bytes: number;
  /** What an image holds and was left out. */
  readonly findings: readonly Finding[];
}
