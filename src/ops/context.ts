import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ByteCounters, createCounters, defaultLimits, type Finding, type Limits, type Progress, silentProgress } from '../core/index.js';

/** What every verb works in. Made once per call of the program, or by whoever uses the library. */
export interface OpsContext {
  /** The local store's folder. */
  readonly home: string;
  /** Relative paths count from here. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits: Limits;
  readonly progress: Progress;
  readonly counters: ByteCounters;
  /** Told what a person should hear before the work goes on, such as what a conversion loses. */
  readonly announce: (findings: readonly Finding[]) => void;
  /** Blobs or files worked on at a time. */
  readonly concurrency: number;
  readonly signal?: AbortSignal;
}

export function createContext(given: Partial<OpsContext> = {}): OpsContext {
  const env = given.env ?? process.env;
  return {
    home: given.home ?? defaultHome(env),
    cwd: given.cwd ?? process.cwd(),
    env,
    limits: given.limits ?? defaultLimits,
    progress: given.progress ?? silentProgress,
    counters: given.counters ?? createCounters(),
    announce: given.announce ?? (() => {}),
    concurrency: given.concurrency ?? 4,
    ...(given.signal === undefined ? {} : { signal: given.signal }),
  };
}

/** `$MODELPORT_HOME`, else the platform's folder for a program's data. */
export function defaultHome(env: Readonly<Record<string, string | undefined>>): string {
  if (env['MODELPORT_HOME']) return env['MODELPORT_HOME'];
  const home = env['HOME'] ?? homedir();
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support', 'modelport');
  if (process.platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(home, 'AppData', 'Local'), 'modelport');
  return join(env['XDG_DATA_HOME'] || join(home, '.local', 'share'), 'modelport');
}
