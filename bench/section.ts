import type { Data } from './data.js';
import type { Done } from './measure.js';
import type { Options } from './options.js';
import { type Results, type Runner, type Step, compareWalls, listDone, toDifference, toRatio } from './rounds.js';
import type { Workspace } from './workspace.js';

/** What a scenario works with. */
export interface Bench extends Runner {
  readonly options: Options;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  /** The large model; written by the section that needs it first. */
  model(): Promise<Data>;
}

/** `measured` is undefined when it could not be measured. `times` is a count, `x` a ratio of times. */
export interface Target {
  readonly what: string;
  readonly unit: 'x' | 'times' | 's' | 'ms' | 'MB' | 'MiB';
  readonly bound: 'at most' | 'at least';
  readonly limit: number;
  readonly measured: number | undefined;
}

export interface Table {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Section {
  readonly title: string;
  readonly steps: readonly Step[];
  readonly results: Results;
  readonly targets: readonly Target[];
  /** What no time says. */
  readonly tables: readonly Table[];
  readonly notes: readonly string[];
}

/** Time of one step over time of another. */
export function toRatioTarget(results: Results, step: string, other: string, bound: Target['bound'], limit: number): Target {
  return { what: `${step} / ${other}`, unit: 'x', bound, limit, measured: compareWalls(results, step, other, toRatio) };
}

/** Time of one step above time of another; the limit is in `unit`. */
export function toDistanceTarget(results: Results, step: string, other: string, unit: 's' | 'ms', limit: number): Target {
  const seconds = compareWalls(results, step, other, toDifference);
  const measured = seconds === undefined || unit === 's' ? seconds : seconds * 1000;
  return { what: `${step} - ${other}`, unit, bound: 'at most', limit, measured };
}

/** For any size and any number of files. */
export function toMemoryTarget(steps: readonly Step[], results: Results): Target {
  const ours = steps.filter((step) => step.ours).flatMap(({ name }): Done[] => listDone(results, name));
  const measured = findHighest(ours.map(({ rss }) => rss && rss / 1e6));
  return { what: 'peak resident memory of modelport', unit: 'MB', bound: 'at most', limit: 150, measured };
}

export function findHighest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

export function toMissing(tool: string): string {
  return `${tool} was not found, so it was not measured; \`.ci/install-peers\` brings it.`;
}

export function toMb(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
