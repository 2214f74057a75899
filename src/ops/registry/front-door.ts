import {
  type Access,
  answerProbes,
  authenticate,
  checkOrigin,
  type Metrics,
  observe,
  openAccessLog,
  type RegistryHandler,
} from '../../registry/server/index.js';
import type { OpsContext } from '../context.js';
import { toAbsolute } from '../paths.js';
import type { ServeOptions } from './serve-options.js';
import type { ServeSettings } from './serve-settings.js';
import { watchText } from './watched-text.js';

export interface FrontDoorSources {
  readonly metrics: Metrics;
  readonly findTrouble: () => Promise<string | undefined>;
  /** Open until the last request is over. */
  readonly log: NodeJS.WritableStream | undefined;
}

/**
 * What a request passes on its way to the registry: it is counted, kept away when a web page sent it, asked who sent it; then health and metrics
 * answer. Throws `registry/bad-access-file`.
 */
export async function createFrontDoor(
  registry: RegistryHandler,
  { options, settings, sources }: { readonly options: ServeOptions; readonly settings: ServeSettings; readonly sources: FrontDoorSources },
  context: OpsContext,
): Promise<RegistryHandler> {
  const { metrics, findTrouble } = sources;
  const log = sources.log === undefined ? undefined : await openAccessLog(sources.log);
  const probed = answerProbes({ metrics, findTrouble }, registry);
  const guarded = authenticate(toAccess(options, settings, context), probed, {
    announce: (message) => context.announce([{ level: 'warning', code: 'registry/access-file', message }]),
  });
  return observe({ metrics, log }, checkOrigin([...(options.allowHosts ?? []), settings.listen.host], guarded));
}

function toAccess({ htpasswd, tokenFile, anonymousPull }: ServeOptions, { isGuarded }: ServeSettings, context: OpsContext): Access {
  if (!isGuarded) return { kind: 'open' };
  const open = (file: string | undefined) => {
    if (file === undefined) return undefined;
    const where = toAbsolute(file, context);
    return { where, read: watchText(where, context) };
  };
  return { kind: 'guarded', passwords: open(htpasswd), tokens: open(tokenFile), anonymousPull: anonymousPull === true };
}
