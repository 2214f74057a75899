import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isSystemError, toIoError } from '../bytes/index.js';
import { listFolder, removeIfEmpty } from './folder.js';
import { createOwner, lifeOf, parseOwner, toOwnerText } from './owner.js';

/** While it is held, nothing that was put since it was taken is pruned, named or not. */
export interface Lease {
  release(): void;
}

/** The leases of one open store: any number may be held at a time, and they share one file. */
export interface LeaseHolder {
  acquire(): Lease;
  /** A new path under `ingest/` that is cleared away should this process die. Only while a lease is held. */
  createIngestPath(): string;
}

/** A holder that cannot be seen from here (another machine or container) is believed to live for this long. */
const unseenHolderMs = 24 * 3_600_000;

export function createLeaseHolder(layout: string): LeaseHolder {
  const owner = createOwner();
  const id = `${owner.pid}-${owner.token}`;
  const path = join(layout, 'leases', id);
  let held = 0;
  let ingests = 0;
  const release = () => {
    held -= 1;
    if (held > 0) return;
    rmSync(path, { force: true });
    removeIfEmpty(join(layout, 'ingest'));
    removeIfEmpty(join(layout, 'leases'));
  };
  return {
    acquire: () => {
      if (held === 0) inFolder(join(layout, 'leases'), () => writeFileSync(path, toOwnerText(owner), { flag: 'wx' }));
      held += 1;
      let released = false;
      return {
        release: () => {
          if (!released) release();
          released = true;
        },
      };
    },
    createIngestPath: () => {
      const ingest = join(layout, 'ingest', `${id}-${++ingests}`);
      inFolder(join(layout, 'ingest'), () => writeFileSync(ingest, '', { flag: 'wx' }));
      return ingest;
    },
  };
}

/** Another process may remove the empty folder between our making it and our using it. */
function inFolder(folder: string, action: () => void): void {
  for (let attempt = 1; ; attempt++) {
    try {
      mkdirSync(folder, { recursive: true });
      action();
      return;
    } catch (error) {
      if (attempt >= 100 || !isSystemError(error, 'ENOENT')) throw toIoError(error, 'write to', folder);
    }
  }
}

export interface FoundLeases {
  readonly live: readonly { readonly id: string; readonly sinceMs: number }[];
  /** Of processes that are gone. */
  readonly stale: readonly string[];
}

export function readLeases(layout: string): FoundLeases {
  const live: { id: string; sinceMs: number }[] = [];
  const stale: string[] = [];
  for (const id of listFolder(join(layout, 'leases'))) {
    const sinceMs = findLiveSince(join(layout, 'leases', id));
    if (sinceMs === 'gone') continue;
    if (sinceMs === 'stale') stale.push(id);
    else live.push({ id, sinceMs });
  }
  return { live, stale };
}

function findLiveSince(path: string): number | 'stale' | 'gone' {
  try {
    const owner = parseOwner(readFileSync(path, 'utf8'));
    const { mtimeMs } = statSync(path);
    const life = owner === undefined ? 'unknown' : lifeOf(owner);
    const isStale = life === 'dead' || (life === 'unknown' && Date.now() - mtimeMs > unseenHolderMs);
    return isStale ? 'stale' : mtimeMs;
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return 'gone';
    throw toIoError(error, 'read the lease', path);
  }
}
