/** A process of its own that prunes a layout again and again: node FILE DIR GRACE_MS. Ends when its standard input does, and says how much it removed. */
import { writeSync } from 'node:fs';
import { openRegistryStore, prune } from '../../src/store/index.js';

const [dir = '', graceMs = '0'] = process.argv.slice(2);
const store = await openRegistryStore(dir, { create: true });
const state = { isEnding: false, runs: 0, removed: 0 };
process.stdin.on('end', () => (state.isEnding = true)).resume();
do {
  const { removed } = await prune(store, { graceMs: Number(graceMs) });
  state.runs += 1;
  state.removed += removed.length;
  // Others want the lock, too.
  await new Promise((resolve) => setTimeout(resolve, 5));
} while (!state.isEnding);
writeSync(1, JSON.stringify({ runs: state.runs, removed: state.removed }));
