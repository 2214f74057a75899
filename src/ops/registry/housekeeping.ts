import type { Finding } from '../../core/index.js';

/** Work that comes back again and again beside the server. */
export interface Chore {
  /** Completes "Cannot …". */
  readonly purpose: string;
  /** Milliseconds from the end of one run to the next. */
  readonly everyMs: number;
  run(): Promise<void>;
}

export interface Housekeeping {
  /** Nothing begins any more; resolves when what is under way has ended. */
  stop(): Promise<void>;
}

/** Each chore once in its interval, one run of it at a time. One that fails is told to `announce` and tried again the next time. */
export function startHousekeeping(chores: readonly Chore[], announce: (findings: readonly Finding[]) => void): Housekeeping {
  const timers = new Map<Chore, NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  let isStopped = false;
  const plan = (chore: Chore) => {
    if (!isStopped) timers.set(chore, setTimeout(() => begin(chore), chore.everyMs).unref());
  };
  const begin = (chore: Chore) => {
    const run = chore
      .run()
      .catch((error: unknown) => {
        // What the end itself broke off is no trouble.
        if (!isStopped) announce([toFinding(chore, error)]);
      })
      .finally(() => {
        running.delete(run);
        plan(chore);
      });
    running.add(run);
  };
  for (const chore of chores) plan(chore);
  return {
    stop: async () => {
      isStopped = true;
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running);
    },
  };
}

function toFinding({ purpose }: Chore, error: unknown): Finding {
  const reason = error instanceof Error ? error.message : String(error);
  return { level: 'warning', code: 'registry/housekeeping', message: `Cannot ${purpose}, it is tried again: ${reason}` };
}
