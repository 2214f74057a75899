import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { listFolder } from './folder.js';
import type { FoundLeases } from './lease.js';

/** Temp files and broken locks live for milliseconds: what is older belongs to nobody. */
const forgottenMs = 10 * 60_000;

/**
 * Ingests and leases of writers that are gone, relative to the layout. `ingests` has to be listed before the leases: a lease is
 * taken before its ingests begin.
 */
export function listDeadIngests(ingests: readonly string[], { live, stale }: FoundLeases): string[] {
  const alive = new Set(live.map(({ id }) => id));
  const dead = ingests.filter((name) => !alive.has(name.slice(0, name.lastIndexOf('-'))));
  return [...dead.map((name) => join('ingest', name)), ...stale.map((id) => join('leases', id))];
}

/** Temp files of a change of the index, and locks on locks, that a crash left behind. */
export function listForgotten(layout: string): string[] {
  const isOurs = (name: string) => /^\.modelport-.*\.tmp$|^index\.lock\../.test(name);
  return ['', 'cache'].flatMap((folder) =>
    listFolder(join(layout, folder))
      .filter((name) => isOurs(name) && Date.now() - (lstatSync(join(layout, folder, name), { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > forgottenMs)
      .map((name) => join(folder, name)),
  );
}
