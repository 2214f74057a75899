import { prune } from '../../store/index.js';
import type { OpsContext } from '../context.js';
import type { RegistryGcResult } from './results.js';
import { parseDuration } from './duration.js';
import { openServedStore } from './open-registry-store.js';

export interface GcOptions {
  /** The layout; without it the local store. */
  readonly dir?: string;
  readonly dryRun?: boolean;
  /** Also packages of a repository that have no tag and are attached to nothing. */
  readonly untagged?: boolean;
  /** What is younger stays; `1h` without it. */
  readonly olderThan?: string;
}

/** Frees the bytes that no repository needs any more. Safe while a server runs on the same folder. */
export async function collectRegistry(options: GcOptions, context: OpsContext): Promise<RegistryGcResult> {
  const { dir, dryRun = false, olderThan = '1h' } = options;
  const graceMs = parseDuration(olderThan, '--older-than');
  const store = await openServedStore(dir, context);
  const untagged = options.untagged === true ? { untagged: { olderThanMs: graceMs } } : {};
  const result = await prune(store, { dryRun, graceMs, limits: context.limits, signal: context.signal, ...untagged });
  return {
    dir: store.path,
    dryRun,
    removed: result.removed,
    freedBytes: result.freedBytes,
    kept: result.kept,
    untagged: result.untagged,
    uploads: result.uploads,
  };
}
