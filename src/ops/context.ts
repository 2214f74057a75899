import { setMaxListeners } from 'node:events';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createCounters, defaultLimits, type Progress, silentProgress } from '../core/index.js';
import type { RegistryClient } from '../registry/client/index.js';
import { openRegistries, type RegistryContext } from './registries.js';

/** What every verb works in. Made once per call of the program, or by whoever uses the library. */
export interface OpsContext extends RegistryContext {
  readonly progress: Progress;
  /** Opened when something really has to do with a registry. */
  readonly registries: () => Promise<RegistryClient>;
  /** Something that stays open for as long as the context is used, such as a package file that is read by offset. */
  readonly keep: (resource: Closeable) => void;
  /** Lets go of everything that was kept, the last first. The context can be used again. */
  readonly close: () => Promise<void>;
}

export interface Closeable {
  close(): Promise<void>;
}

export function createContext(given: Partial<OpsContext> = {}): OpsContext {
  const env = given.env ?? process.env;
  let registries: Promise<RegistryClient> | undefined;
  const kept: Closeable[] = [];
  // Everything that is under way listens to it.
  if (given.signal !== undefined) setMaxListeners(0, given.signal);
  const context: OpsContext = {
    home: given.home ?? defaultHome(env),
    cwd: given.cwd ?? process.cwd(),
    env,
    limits: given.limits ?? defaultLimits,
    progress: given.progress ?? silentProgress,
    counters: given.counters ?? createCounters(),
    announce: given.announce ?? (() => {}),
    concurrency: given.concurrency ?? 4,
    ...(given.signal === undefined ? {} : { signal: given.signal }),
    network: given.network ?? {},
    registries: given.registries ?? (() => (registries ??= openRegistries(context))),
    keep: given.keep ?? ((resource) => void kept.push(resource)),
    close: given.close ?? (() => closeAll(kept)),
  };
  return context;
}

async function closeAll(kept: Closeable[]): Promise<void> {
  for (let resource = kept.pop(); resource !== undefined; resource = kept.pop()) await resource.close();
}

/** The same, with all progress told as that of one task: what packs, copies and unpacks within it is of no interest. */
export function asTask(context: OpsContext, task: string): OpsContext {
  return { ...context, progress: { start: (_, item, total) => context.progress.start(task, item, total) } };
}

/** `$MODELPORT_HOME`, else the platform's folder for a program's data. */
export function defaultHome(env: Readonly<Record<string, string | undefined>>): string {
  if (env['MODELPORT_HOME']) return env['MODELPORT_HOME'];
  const home = env['HOME'] ?? homedir();
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support', 'modelport');
  if (process.platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'modelport');
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'modelport');
}
