import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createOwner, isSystemError, lifeOf, parseOwner, toIoError, toOwnerText } from '../bytes/index.js';
import { listFolder, removeIfEmpty } from './folder.js';
import { partialFolder } from './partials.js';
import { uploadsFolder } from './upload-folder.js';

/** While it is held, nothing that was put since it was taken is pruned, named or not. */
export interface Lease {
  release(): void;
}

/** The leases of one open store: any number may be held at a time, and they share one folder, `ingest/PID-TOKEN`. */
export interface LeaseHolder {
  acquire(): Lease;
  /** Where a new file may be written before it becomes a blob; it goes with the lease. Only while one is held. */
  createIngestPath(): string;
}

/** A holder that cannot be seen from here (another machine or container) is believed to live for this long. */
const unseenHolderMs = 24 * 3_600_000;

/** A folder whose owner was never written down is being made right now, or was left so by a crash. */
const unownedMs = 10 * 60_000;

/** In the folder of a lease; its time is when the lease was taken. */
const ownerFile = 'owner';

export function createLeaseHolder(layout: string): LeaseHolder {
  const owner = createOwner();
  const all = join(layout, 'ingest');
  const own = join(all, `${owner.pid}-${owner.token}`);
  let held = 0;
  let ingests = 0;
  const release = () => {
    held -= 1;
    if (held > 0) return;
    rmSync(own, { recursive: true, force: true });
    removeIfEmpty(all);
  };
  return {
    acquire: () => {
      if (held === 0) makeLease(own, toOwnerText(owner));
      held += 1;
      let isHeld = true;
      return {
        release: () => {
          if (isHeld) release();
          isHeld = false;
        },
      };
    },
    createIngestPath: () => join(own, String(++ingests)),
  };
}

/** Another process may remove the empty folder above between the two steps. */
function makeLease(folder: string, text: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, ownerFile), text);
      return;
    } catch (error) {
      if (attempt < 100 && isSystemError(error, 'ENOENT')) continue;
      rmSync(folder, { recursive: true, force: true });
      removeIfEmpty(dirname(folder));
      throw toIoError(error, 'write to', folder);
    }
  }
}

export interface FoundLeases {
  /** When the oldest live lease was taken, in milliseconds since 1970; Infinity without any. */
  readonly oldestMs: number;
  /** Folders of processes that are gone. */
  readonly dead: readonly string[];
  /** Folders that are just being made or given back. Removing an empty one is safe: who makes it makes it again. */
  readonly unowned: readonly string[];
}

export function readLeases(layout: string): FoundLeases {
  const names = listFolder(join(layout, 'ingest')).filter((name) => name !== partialFolder && name !== uploadsFolder);
  const folders = names.map((name) => join(layout, 'ingest', name));
  const since = folders.map(findSince);
  return {
    oldestMs: Math.min(...since.filter((value) => typeof value === 'number')),
    dead: folders.filter((_, index) => since[index] === 'dead'),
    unowned: folders.filter((_, index) => since[index] === 'unowned'),
  };
}

function findSince(folder: string): number | 'dead' | 'unowned' {
  const stat = statSync(join(folder, ownerFile), { throwIfNoEntry: false }) ?? statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return 'unowned';
  const age = Date.now() - stat.mtimeMs;
  const owner = parseOwner(readText(join(folder, ownerFile)));
  // Nothing is put before the owner is written down: until then there is nothing to protect.
  if (owner === undefined) return age > unownedMs ? 'dead' : 'unowned';
  const life = lifeOf(owner);
  return life === 'dead' || (life === 'unknown' && age > unseenHolderMs) ? 'dead' : stat.mtimeMs;
}

/** Empty while it is being written, and when it is given back right now. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
