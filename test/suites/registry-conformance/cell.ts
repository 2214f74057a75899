import { type Bench } from './bench.js';

/** `dev` is the main branch of the specification: 1.1 with digest headers that must be there, cancelling, tag parameters and the digest algorithm of an upload. */
export type ConformanceVersion = '1.1' | 'dev';

/** What the official suite scores, in its order and words. */
export const checks = [
  'Tag listing',
  'Tag delete',
  'Tag delete atomic',
  'Blob upload cancel',
  'Blob push',
  'Blob post only',
  'Blob post put',
  'Blob chunked',
  'Blob streaming',
  'Blob mount',
  'Blob anonymous mount',
  'Blob get',
  'Blob get range',
  'Blob head',
  'Blob delete',
  'Blob delete atomic',
  'Manifest put by digest',
  'Manifest put by tag',
  'Manifest put with tag params',
  'Manifest put with subject',
  'Manifest get by digest',
  'Manifest get by tag',
  'Manifest head by digest',
  'Manifest head by tag',
  'Manifest delete',
  'Manifest delete atomic',
  'Referrers',
  'Ping',
] as const;

export type Check = (typeof checks)[number];

/** One check with one kind of data; a check that has several ways to be tried has a cell for each. */
export interface ConformanceCell {
  readonly data: string;
  readonly check: Check;
  /** Which way; undefined when there is only one. */
  readonly trial?: string;
}

/** A cell that can be tried by itself, in any order. It throws when the registry is wrong. */
export interface RunnableCell extends ConformanceCell {
  readonly run: (bench: Bench) => Promise<void>;
}

/** The check, and which way it is tried where there are several. */
export function trialOf({ check, trial }: ConformanceCell): string {
  return trial === undefined ? check : `${check}: ${trial}`;
}
