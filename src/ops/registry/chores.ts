import { type LayoutRegistryStore, prune } from '../../store/index.js';
import type { OpsContext } from '../context.js';
import type { Chore } from './housekeeping.js';

export interface ChoreSettings {
  /** Undefined: nothing is collected. */
  readonly gcIntervalMs: number | undefined;
  readonly uploadAgeMs: number;
  /** Undefined: manifests without a tag stay. */
  readonly untaggedAgeMs: number | undefined;
}

/** What a client was told is there, it may count on for so long without a claim. */
const graceMs = 3_600_000;

const uploadIntervalMs = 3_600_000;

/** What keeps the folder of a server clean. `onCollected` hears how often. */
export function listChores(
  store: LayoutRegistryStore,
  { gcIntervalMs, uploadAgeMs, untaggedAgeMs }: ChoreSettings,
  { limits, signal }: OpsContext,
  onCollected: () => void,
): readonly Chore[] {
  const purge: Chore = {
    purpose: 'remove uploads that stopped',
    everyMs: Math.max(1000, Math.min(uploadIntervalMs, uploadAgeMs)),
    run: async () => void (await store.purgeUploads(uploadAgeMs)),
  };
  if (gcIntervalMs === undefined) return [purge];
  const collect: Chore = {
    purpose: 'delete what nothing needs any more',
    everyMs: gcIntervalMs,
    run: async () => {
      const untagged = untaggedAgeMs === undefined ? {} : { untagged: { olderThanMs: untaggedAgeMs } };
      await prune(store, { graceMs, uploadAgeMs, limits, signal, ...untagged });
      onCollected();
    },
  };
  return [purge, collect];
}
