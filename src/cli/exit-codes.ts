import type { Finding } from '../core/index.js';

/** What the status of the process says. A ToolkitError brings its own, one of these. */
export const exitCodes = {
  ok: 0,
  /** The package has errors: validation, verification, refused losses, differences. */
  bad: 1,
  usage: 2,
  /** Network, disk, a missing program. */
  world: 3,
  bug: 70,
  interrupted: 130,
} as const;

/** For verbs that judge: `good` or not, and with `--strict` a warning is as bad as an error. */
export function judge(good: boolean, findings: readonly Finding[] = [], strict = false): number {
  if (!good) return exitCodes.bad;
  return strict && findings.some(({ level }) => level === 'warning') ? exitCodes.bad : exitCodes.ok;
}
