import type { Digest } from '../../core/index.js';
import type { PruneResult } from '../results.js';

export interface RegistryServeResult {
  /** `HOST:PORT` as `--port-file` gets it. */
  readonly address: string;
  readonly url: string;
  /** The layout that is served, absolute. */
  readonly dir: string;
  /** Where names that are a tag alone appear, as in layouts of other tools. */
  readonly repository: string | null;
  readonly readOnly: boolean;
  /** The registry that what is missing is fetched from. */
  readonly mirror: string | null;
  /** Who has to say who they are: nobody, who writes, or everybody. */
  readonly auth: 'none' | 'write' | 'all';
}

export interface RegistryGcResult extends PruneResult {
  readonly dir: string;
  /** Packages that lost their last tag, if it was asked for them. */
  readonly untagged: readonly { readonly repository: string; readonly digest: Digest }[];
  /** Uploads that nobody went on with. */
  readonly uploads: number;
}

export interface RegistryScrubResult {
  readonly dir: string;
  readonly dryRun: boolean;
  /** Nothing is bad, and nothing that a name needs is missing. */
  readonly ok: boolean;
  readonly checked: number;
  readonly bytes: number;
  /** `path` is where it lies now: set aside, or with `dryRun` where it was. `found` is null for what is no plain file. */
  readonly bad: readonly { readonly digest: Digest; readonly size: number; readonly found: Digest | null; readonly path: string }[];
  readonly missing: readonly { readonly digest: Digest; readonly neededBy: string }[];
  /** Names that reach a bad or missing blob. */
  readonly affected: readonly string[];
}

export interface RegistryWarmResult {
  readonly packages: readonly {
    /** As the mirror serves it. */
    readonly name: string;
    readonly digest: Digest;
    /** That are in the folder now, manifests too. */
    readonly blobs: number;
    readonly bytes: number;
    /** Blobs that were not asked for and come when they are. */
    readonly skipped: number;
  }[];
}
