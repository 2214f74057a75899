import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Everything through which the store changes a disk. */
const changes = [
  'appendFileSync',
  'chmodSync',
  'fsyncSync',
  'ftruncateSync',
  'linkSync',
  'mkdirSync',
  'renameSync',
  'rmSync',
  'rmdirSync',
  'utimesSync',
  'writeFileSync',
  'writeSync',
] as const;

type Call = (...args: unknown[]) => unknown;

/**
 * Runs `work`; its `allowed`-th change of the disk is the last that happens, all later ones fail, those of its own clean-up too: what is
 * left is what a killed process leaves. Says whether it came to its end before. Tells `error` apart from what the work itself threw.
 */
export async function withFrozenFs(allowed: number, work: () => Promise<unknown>, error: Error = new Error('frozen')): Promise<boolean> {
  const table = fs as unknown as Record<string, Call>;
  const promises = fs.promises as unknown as Record<string, Call>;
  const originals = new Map(changes.map((name) => [name, table[name] as Call]));
  const [open, rm] = [promises['open'] as Call, promises['rm'] as Call];
  let made = 0;
  const judge = () => {
    if (++made > allowed) throw Object.assign(error, { code: 'EIO' });
  };
  for (const [name, original] of originals) {
    table[name] = (...args) => {
      judge();
      return original(...args);
    };
  }
  promises['open'] = async (...args) => {
    if (args[1] !== 'r' && typeof args[1] !== 'number') judge();
    return open(...args);
  };
  promises['rm'] = async (...args) => {
    judge();
    return rm(...args);
  };
  syncBuiltinESMExports();
  try {
    await work();
    return made <= allowed;
  } catch (thrown) {
    if (made <= allowed) throw thrown;
    return false;
  } finally {
    for (const [name, original] of originals) table[name] = original;
    promises['open'] = open;
    promises['rm'] = rm;
    syncBuiltinESMExports();
  }
}
