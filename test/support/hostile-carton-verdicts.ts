import { expect } from 'vitest';
import { type CartonOutcomes, type Verb, verbs } from './hostile-carton.js';
import { isAlarm, listComplaints } from './hostile-verbs.js';

/** Each verb refuses with these words and status 1. */
export function expectAllRefuse(outcomes: CartonOutcomes, words: RegExp): void {
  for (const verb of verbs) expectRefusal(verb, outcomes, words);
}

const readers: readonly Verb[] = ['cat', 'unpack', 'run', 'test', 'copy to a file', 'copy to an artifact', 'copy --inflate', 'shrink'];

/** Those that need the content of `model/a` refuse with these words, `verify` finds it, and the others have no need to know. */
export function expectContentRefused(outcomes: CartonOutcomes, words: RegExp): void {
  for (const verb of readers) expectRefusal(verb, outcomes, words);
  expect(outcomes.verify).toMatchObject({ kind: 'result', result: { ok: false } });
  expect(listComplaints(outcomes.verify)).toContainEqual(expect.stringMatching(/^carton\//));
  for (const verb of ['inspect', 'ls', 'validate', 'examples'] as const) expect(outcomes[verb]).toMatchObject({ kind: 'result' });
}

/** All do their work; nothing is an error. */
export function expectSound(outcomes: CartonOutcomes): void {
  for (const verb of verbs) expect([verb, outcomes[verb].kind, isAlarm(outcomes[verb])]).toEqual([verb, 'result', false]);
  expect(outcomes.verify).toMatchObject({ result: { ok: true } });
  expect(outcomes.validate).toMatchObject({ result: { valid: true } });
}

export function expectRefusal(verb: Verb, outcomes: CartonOutcomes, words: RegExp, exitCode = 1): void {
  const outcome = outcomes[verb];
  expect([verb, listComplaints(outcome)]).toEqual([verb, [expect.stringMatching(words)]]);
  expect(outcome).toMatchObject({ kind: 'error', exitCode });
}
