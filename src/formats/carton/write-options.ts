import type {
  ByteCounters,
  BytesContent,
  Descriptor,
  Digest,
  FileContent,
  Finding,
  OciPackageSink,
  StoredContent,
  StreamContent,
  WriteOptions,
} from '../../core/index.js';
import type { TomlTable } from '../../text/index.js';
import type { CartonInfo } from './carton.js';

/** The bytes of a member; archives are never members that are made on the way. */
export type MemberContent = BytesContent | FileContent | StreamContent | StoredContent;

/** What a zip takes. Weights are stored, so that ranges of them can be read; `zstd` only where a person asked for it. */
export type SinkMember =
  | { readonly path: string; readonly content: MemberContent; readonly method: 'none' | 'zstd'; readonly mode: number }
  | { readonly path: string; readonly link: string };

/** The writer of a zip fits: each member's bytes are read once and their digest comes back. Members arrive in the order they stand in. */
export interface MemberSink {
  add(member: SinkMember): Promise<{ readonly size: number; readonly digest: Digest }>;
}

/** A file: whoever made the writer commits and closes it. */
export interface ZipSink extends MemberSink {
  readonly kind: 'zip';
}

export type CartonSink = ZipSink | OciPackageSink;

export interface CartonWriteOptions extends WriteOptions {
  /** `noop`, `python`, `torchscript`, `onnx`, or the name of another's runner; over all that was written down. */
  readonly runner?: string | undefined;
  /** A Rust semver requirement. */
  readonly frameworkVersion?: string | undefined;
  /** Path of the weights file, where there are several. */
  readonly model?: string | undefined;
  /** Runner options with their types: integers bigint, floats number. Absent: the plain ones of the description. */
  readonly runnerOptions?: TomlTable | undefined;
  readonly requiredPlatforms?: readonly string[] | undefined;
  /** Markdown for model_description, and the part that it is the text of: its relative targets start there. */
  readonly descriptionText?: { readonly text: string; readonly path: string } | undefined;
  /** Parts that become misc files. */
  readonly miscPaths?: readonly string[] | undefined;
  /** Tables and fields for carton.toml that version 1 does not know; absent: those of `source`. */
  readonly unknown?: TomlTable | undefined;
  /**
   * What the carton.toml of the package said, when the package is a carton that is rewritten: its parts are members and keep their places, and
   * what neither options nor description say is taken from here, with its types.
   */
  readonly source?: CartonInfo | undefined;
  /** Of the members below model/; everything else is stored. An artifact holds members as they are. */
  readonly compression?: 'none' | 'zstd' | undefined;
  /** Layers of an artifact worked on at a time. */
  readonly concurrency: number;
  /** Told what is read and hashed here; sinks count for themselves. */
  readonly counters?: ByteCounters | undefined;
}

/** For members that exist already. */
export type CartonCopyOptions = Pick<CartonWriteOptions, 'progress' | 'limits' | 'signal' | 'concurrency' | 'compression' | 'counters'>;

export interface CartonWritten {
  /** SHA-256 of MANIFEST, hex. */
  readonly modelHash: string;
  /** The manifest of the artifact; absent for a file. */
  readonly root?: Descriptor;
  readonly lost: readonly Finding[];
  readonly findings: readonly Finding[];
  /** Of the members, before compression. */
  readonly bytes: { readonly total: number; readonly sent: number; readonly skipped: number };
  readonly members: number;
}
