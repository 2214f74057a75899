import type { InferenceOutput } from '../tensors/index.js';
import type { Digest, Finding, Identity, Io, LinkedPart, NamedDescriptor, Role, Run, TensorInfo, WeightsSummary } from '../core/index.js';

/** The results of the verbs, exactly as `--json` prints them (docs/json.md). Fields may be added, never renamed. */

export interface PartResult {
  readonly role: Role;
  readonly path: string;
  readonly mediaType?: string;
  readonly size: number;
  readonly digest: Digest | null;
}

export interface InspectResult {
  readonly format: string;
  readonly vintage?: string;
  readonly location: string;
  /** `store` when the name was found in the local store. */
  readonly from?: 'store' | 'registry';
  readonly digest: Digest | null;
  readonly modelHash: string | null;
  readonly identity: Identity;
  readonly weights: WeightsSummary;
  readonly capabilities?: object;
  readonly parts: readonly PartResult[];
  readonly io: Io;
  readonly run: Run;
  readonly encrypted: boolean;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly findings: readonly Finding[];
  /** Where it may run, when it says so. `host` is null for a machine that has no target triple. */
  readonly platform?: { readonly required: readonly string[]; readonly host: string | null; readonly fits: boolean };
  /** Files that lie elsewhere; absent when there are none. */
  readonly linked?: readonly LinkedPart[];
  readonly tensors?: readonly TensorInfo[];
  /** Which container runtimes can mount this form, and what `pack` option mends it where they cannot. */
  readonly mountable?: readonly { readonly runtime: string; readonly yes: boolean; readonly reason: string }[];
}

export interface FileResult {
  readonly path: string;
  readonly role: Role;
  /** Null for a linked file, which only its server knows. */
  readonly size: number | null;
  /** It has to be fetched from a URL before it can be read. */
  readonly linked?: true;
  readonly digest: Digest | null;
  /** Octal, such as `0644`. */
  readonly mode: string | null;
}

export interface LsResult {
  readonly files: readonly FileResult[];
  /** Why the list may not be whole, such as a layer that cannot be read. */
  readonly findings: readonly Finding[];
}

export interface ValidateResult {
  readonly format: string;
  readonly vintage?: string;
  readonly valid: boolean;
  readonly findings: readonly Finding[];
}

export interface VerifyResult {
  readonly ok: boolean;
  readonly checked: { readonly files: number; readonly bytes: number };
  readonly problems: readonly Finding[];
  readonly signatures: readonly unknown[];
}

export interface ByteTotals {
  readonly total: number;
  readonly sent: number;
  readonly skipped: number;
}

export interface PackResult {
  readonly format: string;
  readonly vintage?: string;
  /** Of the manifest in a registry or store; null for a package that is one file. */
  readonly digest: Digest | null;
  /** Of a carton: the SHA-256 of its MANIFEST, hex. */
  readonly modelHash?: string;
  readonly name: string | null;
  readonly path: string | null;
  readonly bytes: ByteTotals;
  readonly lost: readonly Finding[];
  /** What was decided without being told, and what is odd. */
  readonly findings: readonly Finding[];
  readonly parts: readonly PartResult[];
  /** The image-shaped sibling of `--hybrid`. */
  readonly hybrid?: { readonly name: string | null; readonly digest: Digest };
}

export interface CopyResult {
  /** Null for a package that is one file. */
  readonly digest: Digest | null;
  /** Of a carton. */
  readonly modelHash?: string;
  readonly name: string | null;
  readonly path: string | null;
  readonly bytes: ByteTotals;
  readonly lost: readonly Finding[];
  /** `HOST/REPO`, when it went to a registry. */
  readonly repository?: string;
  /** Every root that was copied. */
  readonly copied: readonly { readonly name: string | null; readonly digest: Digest }[];
  /** What is attached to them, if it was asked for. */
  readonly referrers?: readonly { readonly digest: Digest; readonly artifactType: string | null }[];
}

/** A folder that was packed on its way has its parts, a package that was there has `copied`. */
export interface PushResult extends Partial<Omit<PackResult & CopyResult, 'digest' | 'name' | 'path' | 'bytes' | 'lost'>> {
  readonly digest: Digest;
  readonly name: string | null;
  readonly path: string | null;
  readonly bytes: ByteTotals;
  readonly lost: readonly Finding[];
  readonly pushed: { readonly host: string; readonly repository: string; readonly tag: string };
}

export interface PullResult extends CopyResult {
  /** Written to `path`; absent when the package is kept in the local store only. */
  readonly files?: number;
  readonly findings: readonly Finding[];
}

export interface LoginResult {
  readonly host: string;
  readonly username: string;
  /** The file or helper that keeps the password. */
  readonly where: string;
  readonly encrypted: boolean;
  /** False when the registry answered without asking for a login, so that the password was not tried. */
  readonly asked: boolean;
}

export interface LogoutResult {
  readonly host: string;
  /** False when there was no login. */
  readonly removed: boolean;
}

export interface ConvertResult extends CopyResult {
  readonly digest: Digest;
  readonly format: string;
  readonly vintage?: string;
  readonly dryRun: boolean;
  /** What is odd about the result without being lost. */
  readonly findings: readonly Finding[];
}

export interface EditResult extends CopyResult {
  readonly digest: Digest;
  readonly from: Digest;
  readonly changed: readonly string[];
  readonly findings: readonly Finding[];
}

export interface CartonShrinkResult extends CopyResult {
  /** Files that are linked now and not inside. */
  readonly left: readonly string[];
  readonly savedBytes: number;
  /** Links that were given and that no file of the carton has the hash of. */
  readonly unused: readonly Digest[];
  readonly findings: readonly Finding[];
}

export interface CartonLinksResult {
  /** Every linked file can be had from at least one URL. */
  readonly ok: boolean;
  readonly links: readonly LinkCheckResult[];
}

export interface LinkCheckResult {
  readonly path: string;
  readonly url: string;
  readonly ok: boolean;
  /** What the server sent, decoded; null when nothing came. */
  readonly bytes: number | null;
  /** `content-encoding` of the answer. */
  readonly encoding?: string;
  readonly reason?: string;
}

export interface CartonExamplesResult {
  readonly samples: readonly CartonSampleResult[];
  /** Absolute; absent when nothing was written. */
  readonly path?: string;
  readonly files: number;
  readonly findings: readonly Finding[];
}

export interface CartonSampleResult {
  readonly kind: 'self-test' | 'example';
  readonly name: string;
  readonly description?: string;
  readonly inputs: readonly SampleValueResult[];
  readonly outputs: readonly SampleValueResult[];
}

export interface SampleValueResult {
  readonly name: string;
  /** `float32 [1, 64]`, or of a file what its bytes say: `image/png 64x64`. */
  readonly about: string;
  /** Relative to `path`. */
  readonly file?: string;
}

export interface UnpackResult {
  readonly path: string;
  readonly files: number;
  readonly bytes: number;
  readonly digest: Digest | null;
  readonly findings: readonly Finding[];
}

export interface RunResult {
  readonly runtime: RuntimeResult;
  /** How many results the model gave; more than one when it streams. `outputs` is the last. */
  readonly items: number;
  /** As in the Open Inference Protocol: `data` is flat, in C order. Empty when they went to files. */
  readonly outputs: readonly InferenceOutput[];
  /** Absolute. */
  readonly files?: readonly string[];
  /** With `--record`. */
  readonly written?: SamplesWritten;
  readonly findings: readonly Finding[];
}

/** What `--record` and `--update` have changed. */
export interface SamplesWritten {
  readonly kind: 'self-test' | 'example';
  /** Of the self tests or examples. */
  readonly samples: readonly string[];
  /** The build file of a folder, or the new package; absolute. */
  readonly path: string | null;
  /** Of a package that got one. */
  readonly name: string | null;
  readonly digest?: Digest | null;
  /** Of a carton. */
  readonly modelHash?: string;
  /** Of a folder the tensors, relative to it. */
  readonly files?: readonly string[];
}

export interface RuntimeResult {
  readonly name: string;
  /** Of the framework. */
  readonly version: string;
}

export interface TestResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Absent when there was nothing to run. */
  readonly runtime?: RuntimeResult;
  readonly cases: readonly TestCaseResult[];
  /** With `--record` and `--update`: `samples` are the self tests that expect what came out now. */
  readonly written?: SamplesWritten;
  readonly findings: readonly Finding[];
}

export interface TestCaseResult {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly outputs: readonly TestOutputResult[];
  readonly message?: string;
  /** What came out is what it expects from now on. */
  readonly kept?: true;
  readonly findings: readonly Finding[];
}

export interface TestOutputResult {
  readonly name: string;
  readonly status: 'passed' | 'failed';
  /** Largest difference, where both are numbers of one shape. */
  readonly maxAbsError?: number;
  /** Index of the worst element. */
  readonly at?: readonly number[];
  readonly message?: string;
}

export interface ListResult {
  readonly packages: readonly {
    readonly name: string | null;
    readonly digest: Digest;
    readonly format: string;
    readonly vintage?: string;
    /** Number of parameters, as `1.5B`, where the package says it. */
    readonly parameters?: string;
    /** Bytes of all blobs. */
    readonly size: number;
    readonly createdAt: string | null;
  }[];
  /** Of a registry that was asked for itself. */
  readonly repositories?: readonly string[];
  readonly next: string | null;
}

export interface TagResult {
  readonly name: string;
  readonly digest: Digest;
  /** What the name pointed to before. */
  readonly replaced: Digest | null;
}

export interface RmResult {
  readonly removed: readonly NamedDescriptor[];
}

export interface PruneResult {
  readonly dryRun: boolean;
  readonly removed: readonly { readonly digest: Digest; readonly size: number }[];
  readonly freedBytes: number;
  readonly kept: number;
}

export interface InitResult {
  /** Null when the text went to standard output. */
  readonly path: string | null;
  readonly text: string;
  readonly findings: readonly Finding[];
}

export interface DiffEntry {
  readonly field: string;
  readonly a: unknown;
  readonly b: unknown;
}

export interface DiffResult {
  readonly equal: boolean;
  readonly metadata: readonly DiffEntry[];
  readonly files: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
    readonly renamed: readonly { readonly from: string; readonly to: string }[];
  };
  readonly tensors: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly { readonly name: string; readonly a: string; readonly b: string }[];
  };
}

export interface DoctorResult {
  readonly ok: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly status: 'ok' | 'warning' | 'error';
    readonly message: string;
    readonly hint?: string;
  }[];
}

/** A verb that goes on after its result, until the signal of its context comes. */
export interface LongRunning<R> {
  readonly started: R;
  /** Resolves when everything is put away. */
  readonly ended: Promise<void>;
}
