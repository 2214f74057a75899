import { rmSync } from 'node:fs';
import type { Command, Done, Meter, Outcome } from './measure.js';

export interface Step {
  readonly name: string;
  readonly command: Command;
  /** The step of the same round that this one is held against. */
  readonly beside?: string;
  readonly ours?: boolean;
  /** Too slow to repeat: in the first round only. */
  readonly once?: boolean;
  /** Run before it, outside its time. */
  readonly prepared?: Command;
  /** Paths that nobody needs once this step has ended; removed outside its time. */
  readonly removes?: readonly string[];
}

/** Outcomes of each step by its name, one a round; undefined where a round left it out. */
export type Results = ReadonlyMap<string, readonly (Outcome | undefined)[]>;

/** Where steps write, and how many bytes at the most. */
export interface Disk {
  readonly folder: string;
  readonly bytes: number;
}

export interface Runner {
  readonly meter: Meter;
  readonly say: (line: string) => void;
}

/** All steps in turn, round after round, so that what the machine does beside falls on all alike. */
export async function runRounds(runner: Runner, steps: readonly Step[], rounds: number, disk?: Disk): Promise<Results> {
  const results = new Map<string, (Outcome | undefined)[]>(steps.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const step of steps) {
      results.get(step.name)?.push(step.once === true && round > 0 ? undefined : await runStep(runner, step, `${round + 1}/${rounds}`, disk));
    }
  }
  return results;
}

/** One step, and what comes before and after it outside of its time. `turn` says in the progress which one it is. */
export async function runStep({ meter, say }: Runner, step: Step, turn: string, disk?: Disk): Promise<Outcome> {
  if (step.prepared !== undefined) await meter.measure(step.prepared);
  if (disk !== undefined) await settle(meter, disk);
  const outcome = await meter.measure(step.command);
  say(`${turn}  ${step.name}: ${describe(outcome)}`);
  for (const path of step.removes ?? []) rmSync(path, { recursive: true, force: true });
  return outcome;
}

/**
 * The same start for each: what an earlier step left to be written is written, and as much memory as the step will fill has just been in use.
 * (A virtual machine gives free memory back to its host after seconds, and to touch it again costs several times a write.)
 */
async function settle(meter: Meter, { folder, bytes }: Disk): Promise<void> {
  const script = 'head -c "$2" /dev/zero > "$1/warm"; rm "$1/warm"; sync -f "$1"';
  await meter.measure({ program: 'sh', args: ['-c', script, 'settle', folder, String(bytes)] });
}

function describe(outcome: Outcome): string {
  return outcome.kind === 'done' ? `${outcome.wall.toFixed(3)} s` : outcome.reason;
}

/** Of the rounds in which the step ended well. */
export function listDone(results: Results, name: string): Done[] {
  return (results.get(name) ?? []).filter((outcome): outcome is Done => outcome?.kind === 'done');
}

/** Median over the rounds of `combine(wall of one, wall of other)`; undefined when no round has both. */
export function compareWalls(results: Results, name: string, other: string, combine: (one: number, other: number) => number): number | undefined {
  const others = results.get(other) ?? [];
  const pairs = (results.get(name) ?? []).flatMap((outcome, round) => {
    const beside = others[round];
    return outcome?.kind === 'done' && beside?.kind === 'done' ? [combine(outcome.wall, beside.wall)] : [];
  });
  return pairs.length === 0 ? undefined : median(pairs);
}

export const toRatio = (one: number, other: number): number => one / other;

export const toDifference = (one: number, other: number): number => one - other;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle) - 1] ?? NaN)) / 2;
}
