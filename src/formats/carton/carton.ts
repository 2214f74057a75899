import type { Digest, FileTree, Finding, Limits, TensorSpec } from '../../core/index.js';
import type { Located, TomlTable } from '../../text/index.js';
import type { CartonDtype } from './spec.js';

/**
 * The members of a carton, wherever they lie: a zip, a folder, the layers of an artifact. Directories are left out, a link is an entry of its
 * own and is not followed by `tree.open`.
 */
export interface CartonMembers {
  readonly tree: FileTree;
  /** `zip` has facts of its own that rules look at: method, packed size. */
  readonly container: 'zip' | 'folder' | 'artifact';
  readonly location: string;
}

/** A document of a carton: read, or the reason why not. `absent` is no breach by itself. */
export type Document<T> =
  | { readonly kind: 'read'; readonly text: string; readonly value: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'broken'; readonly finding: Finding };

/** TOML with types kept and the place of every key. */
export type TomlDocument = Located & { readonly value: TomlTable };

/** One line of MANIFEST. `line` counts from 1; without `sha256` there is no `=` in it. */
export interface ManifestLine {
  readonly line: number;
  readonly text: string;
  readonly path: string;
  readonly sha256?: string;
}

export interface Manifest {
  readonly lines: readonly ManifestLine[];
  /** Path → digest, of the lines with a hash of 64 hex digits (lower-cased); of a path that stands twice the first. */
  readonly digests: ReadonlyMap<string, Digest>;
  /** SHA-256 of the bytes of MANIFEST, hex. (MANIFEST, "model hash") */
  readonly modelHash: string;
  readonly endsWithNewline: boolean;
}

/** All documents of a carton, gathered before anything is judged. */
export interface CartonDocuments {
  readonly members: CartonMembers;
  readonly toml: Document<TomlDocument>;
  readonly manifest: Document<Manifest>;
  readonly links: Document<TomlDocument>;
  readonly tensorIndex: Document<TomlDocument>;
  readonly limits: Limits;
}

export type CartonReference = { readonly kind: 'tensor'; readonly name: string } | { readonly kind: 'misc'; readonly path: string };

export interface CartonSelfTest {
  readonly name?: string;
  readonly description?: string;
  /** Tensor names of the index, without prefix. */
  readonly inputs: ReadonlyMap<string, string>;
  readonly expected?: ReadonlyMap<string, string>;
  /** Ours; other readers ignore them. */
  readonly rtol?: number;
  readonly atol?: number;
}

export interface CartonExample {
  readonly name?: string;
  readonly description?: string;
  readonly inputs: ReadonlyMap<string, CartonReference>;
  readonly outputs: ReadonlyMap<string, CartonReference>;
}

export interface CartonRunner {
  readonly name: string;
  readonly requiredFrameworkVersion: string;
  readonly compatVersion?: number;
  /** Integers are bigint, floats number. */
  readonly options: TomlTable;
}

/** What carton.toml says, as far as it is well-formed; malformed fields are left out here and found by the rules. */
export interface CartonInfo {
  readonly modelName?: string;
  readonly shortDescription?: string;
  readonly modelDescription?: string;
  readonly license?: string;
  readonly repository?: string;
  readonly homepage?: string;
  readonly requiredPlatforms: readonly string[];
  readonly inputs: readonly TensorSpec[];
  readonly outputs: readonly TensorSpec[];
  readonly selfTests: readonly CartonSelfTest[];
  readonly examples: readonly CartonExample[];
  readonly runner?: CartonRunner;
  /** Tables and fields at the top that version 1 does not know. */
  readonly unknown: TomlTable;
  /** Fields that it does not know in the tables that it does: `runner`, `input[0]`, … → the fields. */
  readonly unknownFields: ReadonlyMap<string, TomlTable>;
}

/** One entry of tensor_data/index.toml. */
export type IndexEntry =
  | { readonly kind: 'plain'; readonly name: string; readonly dtype: CartonDtype; readonly shape: readonly number[]; readonly file: string }
  | { readonly kind: 'nested'; readonly name: string; readonly inner: readonly string[] };

/** sha256 → URLs. (LINKS) */
export type Links = ReadonlyMap<Digest, readonly string[]>;
