import type { OpsContext } from '../context.js';
import type { LongRunning } from '../results.js';
import type { RegistryServeResult } from './results.js';
import { startLongRunning } from './long-running.js';
import type { ServeOptions } from './serve-options.js';

export type { ServeOptions };

/**
 * Serves a layout, or the local store, as an OCI registry until the context's signal comes; then what is under way may end. The folder can be used by
 * other commands meanwhile. The room is loaded here, as no other verb has need of it.
 */
export function serveRegistry(options: ServeOptions, context: OpsContext): Promise<LongRunning<RegistryServeResult>> {
  return startLongRunning(async (tell) => {
    const { runRegistry } = await import('./run-registry.js');
    await runRegistry(options, context, tell);
  });
}
