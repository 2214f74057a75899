import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { type Finding, hasErrors, type Limits } from '../../src/core/index.js';
import { inspect, list, ls, unpack, validate, verify } from '../../src/ops/index.js';
import type { HostileSandbox, Outcome } from './hostile-layout.js';

export interface Verdicts {
  readonly inspect: Outcome;
  readonly ls: Outcome;
  readonly list: Outcome;
  readonly validate: Outcome;
  readonly verify: Outcome;
  readonly unpack: Outcome;
}

/** Every reading verb over `location`, one after the other. Throws when one crashes, takes long or leaves something outside of the target. */
export async function tryAllVerbs(sandbox: HostileSandbox, location: string, limits: Partial<Limits> = {}): Promise<Verdicts> {
  const context = () => sandbox.context(limits);
  const verdicts = {
    inspect: await sandbox.attempt(() => inspect({ location, tensors: true }, context())),
    ls: await sandbox.attempt(() => ls({ location, digests: true }, context())),
    list: await sandbox.attempt(() => list({ location: `oci:${sandbox.layout.path}` }, context())),
    validate: await sandbox.attempt(() => validate({ location }, context())),
    verify: await sandbox.attempt(() => verify({ location }, context())),
    unpack: await sandbox.attempt(() => unpack({ location, output: sandbox.target }, context())),
  };
  sandbox.assertClean();
  return verdicts;
}

/** `code: message` of each refusal, and of each finding. */
export function listComplaints(...outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap((outcome) =>
    outcome.kind === 'error' ? [`${outcome.code}: ${outcome.message}`] : findingsOf(outcome).map(({ code, message }) => `${code}: ${message}`),
  );
}

export function findingsOf(outcome: Outcome): readonly Finding[] {
  if (outcome.kind === 'error') return [];
  const { findings = [], problems = [] } = outcome.result as { findings?: readonly Finding[]; problems?: readonly Finding[] };
  return [...findings, ...problems];
}

/** A refusal, or a finding that is an error. */
export function isAlarm(outcome: Outcome): boolean {
  return outcome.kind === 'error' || hasErrors(findingsOf(outcome));
}

/** Unpacking refuses with these words, and leaves nothing. */
export function expectRefused(sandbox: HostileSandbox, verdicts: Verdicts, words: RegExp): void {
  expect(listComplaints(verdicts.unpack)).toEqual([expect.stringMatching(words)]);
  expect(verdicts.unpack).toMatchObject({ kind: 'error', exitCode: 1 });
  expect(existsSync(sandbox.target)).toBe(false);
}
