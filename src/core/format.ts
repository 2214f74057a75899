import type { BlobSink, BlobSource } from './content.js';
import type { Descriptor } from './descriptor.js';
import type { FileTree } from './file-tree.js';
import type { Finding } from './finding.js';
import type { Limits } from './limits.js';
import type { ModelPackage } from './package.js';
import type { Progress } from './progress.js';

/** Something that may be a package. Opening it read at most a manifest. */
export type PackageSource = OciSource | FilesSource;

export interface OciSource {
  readonly kind: 'oci';
  /** What the person wrote. */
  readonly location: string;
  readonly name?: string;
  readonly root: Descriptor;
  /** The exact bytes of the root manifest or index, already verified. */
  readonly bytes: Uint8Array;
  readonly blobs: BlobSource;
}

export interface FilesSource {
  readonly kind: 'files';
  readonly location: string;
  readonly tree: FileTree;
}

export interface Detection {
  readonly vintage?: string;
  /** What gave it away, for a person. */
  readonly because: string;
}

export interface ReadOptions {
  readonly limits: Limits;
}

/** Reads one format. `validate` does not need `read` to succeed. */
export interface FormatReader {
  readonly id: string;
  readonly title: string;
  detect(source: PackageSource): Promise<Detection | undefined>;
  /** Who and what the model is, from manifest and config alone: for listing many packages. */
  readSummary(source: PackageSource, options: ReadOptions): Promise<Pick<ModelPackage, 'identity' | 'weights'>>;
  read(source: PackageSource, options: ReadOptions): Promise<ModelPackage>;
  validate(source: PackageSource, options: ReadOptions): Promise<readonly Finding[]>;
}

/** Where a written package goes, for formats that are OCI artifacts: blobs now, the name last and by the caller. */
export interface OciPackageSink {
  readonly kind: 'oci';
  readonly blobs: BlobSink;
}

export interface WriteOptions {
  readonly progress: Progress;
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
}

export interface Written {
  readonly root: Descriptor;
  readonly lost: readonly Finding[];
  /** Decisions and oddities a person should hear of. */
  readonly findings: readonly Finding[];
  readonly bytes: { readonly total: number; readonly sent: number; readonly skipped: number };
}
