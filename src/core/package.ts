import type { BlobSource, ByteStream, FileContent } from './content.js';
import type { Descriptor } from './descriptor.js';
import type { Digest } from './digest.js';
import type { DtypeName } from './dtype.js';
import type { FileTree } from './file-tree.js';
import type { Finding } from './finding.js';
import type { Samples } from './samples.js';

export const roles = ['weights', 'config', 'tokenizer', 'code', 'dataset', 'doc', 'test', 'environment', 'other'] as const;

/** What a file is for. */
export type Role = (typeof roles)[number];

/** Who and what a model is. Absent means unknown. `createdAt` is RFC 3339. */
export interface Identity {
  readonly name?: string;
  readonly version?: string;
  readonly title?: string;
  readonly description?: string;
  /** SPDX expressions. */
  readonly licenses?: readonly string[];
  readonly authors?: readonly string[];
  readonly vendor?: string;
  readonly family?: string;
  readonly homepage?: string;
  readonly repository?: string;
  readonly documentation?: string;
  readonly datasets?: readonly string[];
  readonly revision?: string;
  readonly createdAt?: string;
}

/** What the weight files say about themselves, or a description says for them. */
export interface WeightsSummary {
  /** `safetensors`, `gguf`, `onnx`, `pt`, `npy`, … */
  readonly format?: string;
  /** `transformer`, `llama`, `cnn`, … */
  readonly architecture?: string;
  /** Elements of all stored tensors that are parameters. */
  readonly parameters?: number;
  /** `<count><K|M|B|T|Q>`, at most one decimal. (ModelPack config.md, paramSize) */
  readonly paramSize?: string;
  /** Comma separated dtypes, most bytes first. */
  readonly precision?: string;
  readonly quantization?: string;
  /** Number of tensors. */
  readonly tensors?: number;
}

export interface Capabilities {
  readonly inputTypes?: readonly string[];
  readonly outputTypes?: readonly string[];
  readonly languages?: readonly string[];
  /** RFC 3339. */
  readonly knowledgeCutoff?: string;
  readonly reasoning?: boolean;
  readonly toolUsage?: boolean;
  readonly reward?: boolean;
}

/** Where the bytes of a part are. Nothing is read before somebody asks. */
export type PartContent =
  | FileContent
  /** The stored blob is the file. */
  | { readonly kind: 'blob'; readonly blobs: BlobSource; readonly descriptor: Descriptor }
  /** The file lies at `offset` of an uncompressed layer; reading it alone is not verified. Without `size` only ranges with an end can be read. */
  | { readonly kind: 'slice'; readonly blobs: BlobSource; readonly descriptor: Descriptor; readonly offset: number; readonly size?: number }
  /** A file of a folder or archive that can be read at any offset; nothing verifies it but the part's digest. */
  | { readonly kind: 'entry'; readonly tree: FileTree; readonly path: string }
  /** Forward only, for example out of a compressed layer. */
  | { readonly kind: 'stream'; open(): Promise<ByteStream> };

/** One file of a package. */
export interface Part {
  readonly role: Role;
  /** Relative, with `/`. */
  readonly path: string;
  readonly mediaType?: string;
  readonly size: number;
  /** Of the file itself; absent when it is not known without reading. */
  readonly digest?: Digest;
  /** Permission bits. */
  readonly mode?: number;
  /** Seconds since 1970. */
  readonly mtime?: number;
  /** True when the role is a guess of ours or of the packer. */
  readonly guessed?: boolean;
  readonly content: PartContent;
}

/** A file of the package whose bytes are elsewhere, known by their digest. (Carton format, LINKS) */
export interface LinkedPart {
  readonly role: Role;
  readonly path: string;
  readonly digest: Digest;
  /** To be tried in this order. */
  readonly urls: readonly string[];
}

/** A tensor's extent in a package description: numbers, a symbol for a free dimension, null for an unnamed one. Text is any rank: `*`, or a symbol for the whole shape. */
export type Shape = readonly (number | string | null)[] | string;

export interface TensorSpec {
  readonly name: string;
  readonly dtype?: DtypeName;
  readonly shape?: Shape;
  readonly description?: string;
  readonly internalName?: string;
}

export interface Io {
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  /** Counts. */
  readonly selfTests: number;
  readonly examples: number;
}

export interface Run {
  readonly runtime?: string;
  readonly version?: string;
  readonly entrypoint?: string;
  readonly command?: string | readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly resources?: Readonly<Record<string, unknown>>;
}

/** A package, neutral of its format. Immutable; the content of its parts is lazy. */
export interface ModelPackage {
  readonly format: string;
  readonly vintage?: string;
  readonly identity: Identity;
  readonly weights: WeightsSummary;
  readonly capabilities: Capabilities;
  readonly parts: readonly Part[];
  /** Files that have to be fetched before the package is whole; absent when there are none. */
  readonly linked?: readonly LinkedPart[];
  readonly io: Io;
  /** What `io` counts; absent where the format has no place for it. */
  readonly samples?: Samples;
  readonly run: Run;
  /** `run.options` with the types that they were written with: integers are bigint, floats number. */
  readonly typedOptions?: Readonly<Record<string, unknown>>;
  /** A hash that names the content whatever holds it, hex. (Carton: the SHA-256 of MANIFEST) */
  readonly modelHash?: string;
  /** Everything that the format said and that has no neutral place, verbatim. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** What was odd while reading. */
  readonly findings: readonly Finding[];
}

export const emptyIo: Io = { inputs: [], outputs: [], selfTests: 0, examples: 0 };

/** What a weight file says of one tensor. `offset` counts from the start of `file`. */
export interface TensorInfo {
  readonly name: string;
  /** Neutral name where there is one, else the format's own (`Q4_K`). */
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: number;
  readonly offset?: number;
  readonly file: string;
}
