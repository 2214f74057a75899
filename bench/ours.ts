import { resolve } from 'node:path';
import type { Command, Outcome } from './measure.js';

const cliFile = resolve('dist/cli.js');

export const packageName = 'bench/model:v1';

/** modelport as it is shipped, with a store of its own. */
export function modelport(home: string, args: readonly string[]): Command {
  return { program: process.execPath, args: [cliFile, ...args], env: { MODELPORT_HOME: home } };
}

/** Bytes, but for `requests`. */
export type Counters = Readonly<Record<(typeof counterNames)[number], number>>;

const counterNames = ['read', 'hashed', 'written', 'resumed', 'sent', 'received', 'requests'] as const;

/** From what --verbose says on stderr. */
export function parseCounters(outcome: Outcome | undefined): Counters | undefined {
  if (outcome?.kind !== 'done') return undefined;
  const counts = counterNames.map((name) => [name, Number(new RegExp(`^(?:bytes )?${name} +(\\d+)`, 'm').exec(outcome.stderr)?.[1])] as const);
  return counts.some(([, count]) => Number.isNaN(count)) ? undefined : (Object.fromEntries(counts) as Counters);
}

/** Bytes of all blobs of the package, from what `pack --json` says on stdout. */
export function parsePackageBytes(outcome: Outcome | undefined): number | undefined {
  if (outcome?.kind !== 'done') return undefined;
  const result = JSON.parse(outcome.stdout) as { readonly bytes?: { readonly total?: unknown } };
  const total = result.bytes?.total;
  return typeof total === 'number' ? total : undefined;
}
