import { createError } from '../../core/index.js';
import { parseByteSize } from '../../buildfile/index.js';
import { scrub } from '../../store/index.js';
import type { OpsContext } from '../context.js';
import type { RegistryScrubResult } from './results.js';
import { openServedStore } from './open-registry-store.js';

export interface ScrubOptions {
  /** The layout; without it the local store. */
  readonly dir?: string;
  /** Nothing is set aside. */
  readonly dryRun?: boolean;
  /** Bytes a second, such as `50MB`. */
  readonly rate?: string;
}

/** Hashes every blob again and sets bad ones aside, so that whoever pushes them is not told that they are there. Safe while a server runs. */
export async function scrubRegistry({ dir, dryRun = false, rate }: ScrubOptions, context: OpsContext): Promise<RegistryScrubResult> {
  const bytesPerSecond = rate === undefined ? undefined : parseRate(rate);
  const store = await openServedStore(dir, context);
  const { limits, progress, counters, signal } = context;
  const paced = bytesPerSecond === undefined ? {} : { bytesPerSecond };
  const result = await scrub(store, { dryRun, limits, progress, counters, ...(signal === undefined ? {} : { signal }), ...paced });
  const ok = result.bad.length === 0 && result.missing.length === 0;
  return { dir: store.path, dryRun, ok, ...result };
}

function parseRate(text: string): number {
  const bytes = parseByteSize(text.replace(/\/s$/i, ''));
  if (bytes !== undefined && bytes > 0) return bytes;
  throw createError('ops/bad-option', {
    message: `Cannot use --rate "${text}": expected bytes a second, such as 50MB or 8MiB`,
    hint: 'Without --rate it reads as fast as it can',
  });
}
