import { setTimeout as pause } from 'node:timers/promises';

const longestMs = 60_000;

/** Looks again and again until something is there; throws when it never comes. */
export async function until<T>(what: string, look: () => T | undefined | false): Promise<T> {
  for (const deadline = Date.now() + longestMs; Date.now() < deadline; await pause(2)) {
    const found = look();
    if (found !== undefined && found !== false) return found;
  }
  throw new Error(`Waited in vain for ${what}`);
}
