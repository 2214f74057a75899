import type { IndexChange, IndexFile } from './index-file.js';

interface Waiting {
  readonly change: IndexChange;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Changes of an index that are asked for at one time are made one after the other under one lock, and written together: each waits for one write, not
 * for those of all before it. One that throws changes nothing; the others are made.
 */
export function createRootQueue(index: IndexFile): (change: IndexChange) => Promise<void> {
  const waiting: Waiting[] = [];
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    while (waiting.length > 0) await makeAll(index, waiting);
    isRunning = false;
  };
  return (change) =>
    new Promise((resolve, reject) => {
      waiting.push({ change, resolve, reject });
      if (!isRunning) void run();
    });
}

async function makeAll(index: IndexFile, waiting: Waiting[]): Promise<void> {
  let taken: Waiting[] | undefined;
  const made: Waiting[] = [];
  try {
    await index.update((before) => {
      taken = waiting.splice(0);
      return taken.reduce((current, each) => attempt(current, each, made), before);
    });
    for (const { resolve } of made) resolve();
  } catch (error) {
    // Without the lock none of those that wait could be made.
    for (const { reject } of taken === undefined ? waiting.splice(0) : made) reject(error);
  }
}

function attempt(index: ReturnType<IndexChange>, each: Waiting, made: Waiting[]): ReturnType<IndexChange> {
  try {
    const after = each.change(index);
    made.push(each);
    return after;
  } catch (error) {
    each.reject(error);
    return index;
  }
}
