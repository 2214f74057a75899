import { type LayoutRegistryStore, openRegistryStore } from '../../store/index.js';
import type { OpsContext } from '../context.js';
import { toAbsolute } from '../paths.js';

/**
 * The layout that a registry is served from, by the path that was written; without one the local store, which need not be there. With `create` the
 * folder need not be there either, and becomes a layout at the first write. Throws `store/not-a-layout`.
 */
export async function openServedStore(dir: string | undefined, context: OpsContext, create = false): Promise<LayoutRegistryStore> {
  const { counters, limits, home } = context;
  return openRegistryStore(dir === undefined ? home : toAbsolute(dir, context), { counters, limits, create: create || dir === undefined });
}
