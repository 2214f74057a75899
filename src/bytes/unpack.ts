import type { ByteCounters, ByteStream, Finding, Limits, Progress } from '../core/index.js';
import { toIoError } from './os-error.js';
import { Staging } from './staging.js';
import { UnpackJob } from './unpack-job.js';
import { unpackLayers } from './unpack-layers.js';
import { unpackParts } from './unpack-parts.js';

/** Where files of a package come from. Streams verify themselves: one that ends without throwing gave the right bytes. */
export type UnpackSource = UnpackFile | UnpackTar;

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

/** An archive; `open` gives uncompressed tar bytes, and may be called a second time when a hard link needs a file that was passed over. */
export interface UnpackTar {
  readonly kind: 'tar';
  /** What it is called in errors. */
  readonly where: string;
  open(): Promise<ByteStream>;
  /** Entry name → path in the package; undefined leaves the entry out. Without it the name is the path. */
  readonly place?: (entryName: string) => string | undefined;
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

/**
 * Puts the files of a package into the folder `target`, which is new, empty, or (with `overwrite`) any folder: all of them or,
 * after any failure, none. Modes are those of the package without set-id bits, less the umask, as tar does it.
 * Throws `bytes/unsafe-path` and `bytes/refused-entry` naming the entry, `bytes/exists`, `bytes/disk-full`, `core/cancelled`
 * and whatever the sources throw. A crash leaves a hidden folder that `removeLeftovers` finds.
 */
export async function unpackPackage(sources: readonly UnpackSource[], target: string, options: UnpackOptions): Promise<UnpackResult> {
  const staging = new Staging(target, options.overwrite === true, options.counters);
  try {
    const job = new UnpackJob(staging, target, staging.foldsNames(), options);
    await (options.policy === 'package' ? unpackParts(sources, job) : unpackLayers(sources, job));
    job.makeLinks();
    job.assertWanted();
    await staging.publish();
    return { files: job.files, bytes: job.bytes, findings: job.findings };
  } catch (error) {
    await staging.discard();
    throw toIoError(error, 'unpack to', target);
  }
}
