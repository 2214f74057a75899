import { join, resolve } from 'node:path';
import type { DigestCache } from '../core/index.js';
import { openDigestCache } from './digest-cache.js';
import { createLayoutStore, type LayoutOptions, type LayoutStore } from './layout.js';

export interface LocalStoreOptions extends Omit<LayoutOptions, 'digestCache'> {
  /** The folder that is the layout; it appears with the first write. */
  readonly home: string;
  /** False: every file is hashed again. */
  readonly digestCache?: boolean;
}

/** Digests of files that were hashed once, as the local store in `home` remembers them. */
export function openLocalDigests(home: string): DigestCache {
  return openDigestCache(digestFile(resolve(home)));
}

function digestFile(path: string): string {
  return join(path, 'cache', 'digests.jsonl');
}

/** The store of this machine: an OCI layout in `home` itself, names in full. Opening reads nothing. */
export async function openLocalStore({ home, digestCache = true, ...options }: LocalStoreOptions): Promise<LayoutStore> {
  const path = resolve(home);
  return createLayoutStore(path, { ...options, ...(digestCache ? { digestCache: digestFile(path) } : {}) });
}
