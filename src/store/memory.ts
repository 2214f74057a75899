import type { ContentStore, Descriptor } from '../core/index.js';
import { createMemoryBlobs } from './memory-blobs.js';

/** A store that is gone with the process, for tests and small things: every blob is held in memory. */
export function createMemoryStore(): ContentStore {
  const { read, place } = createMemoryBlobs();
  const names = new Map<string, Descriptor>();
  return {
    ...place,
    resolve: async (name) => names.get(name),
    tag: async (name, descriptor) => {
      read(descriptor);
      names.set(name, descriptor);
    },
    list: async () => [...names].map(([name, descriptor]) => ({ name, descriptor })),
  };
}
