import { createError, type Finding, type NamedTensors } from '../../core/index.js';
import type { OpsContext } from '../context.js';
import type { SamplesWritten, TestCaseResult } from '../results.js';
import { recordInCarton } from './record-carton.js';
import { findRecordTarget, type RecordTarget } from './record-target.js';
import type { Runnable } from './runnable.js';
import { addExpectations, replaceExpectations } from './update-folder.js';

/** Yes, or a question to a person who is shown what would be replaced. */
export type UpdateConsent = true | ((failed: readonly TestCaseResult[]) => Promise<boolean>);

export interface UpdateOptions {
  /** Keep what came out as the expectation of self tests that have none. */
  readonly record?: boolean;
  /** Keep it in place of the expectation of those that failed. */
  readonly update?: UpdateConsent;
  /** Of a carton the new one: a file, or a name. */
  readonly to?: string;
}

/** A self test that ran, and what the model gave. */
export interface RanCase {
  /** Counted from 0 among all self tests of the package. */
  readonly index: number;
  readonly result: TestCaseResult;
  /** Names of the outputs that it expects; none without an expectation. */
  readonly expects: readonly string[];
  /** Absent when it gave nothing that could be kept, such as what breaks the declared interface. */
  readonly outputs?: NamedTensors;
}

/** Undefined when nothing shall be changed. Asked before anything runs; throws as `findRecordTarget`. */
export async function planUpdate({ record, update, to }: UpdateOptions, runnable: Runnable, location: string): Promise<RecordTarget | undefined> {
  if (record === true || update !== undefined) return findRecordTarget(runnable, location, to);
  if (to === undefined) return undefined;
  throw createError('ops/bad-option', {
    message: 'Cannot use --to without --record or --update: nothing is kept',
    hint: 'Add --record for tests without expectation, --update for failing ones',
  });
}

/** Decides what is kept, asks, and writes all of it at once. */
export async function keepExpectations(
  cases: readonly RanCase[],
  target: RecordTarget,
  options: UpdateOptions,
  context: OpsContext,
): Promise<{ readonly written?: SamplesWritten; readonly kept: ReadonlySet<number>; readonly findings: readonly Finding[] }> {
  const recorded = options.record === true ? cases.filter(({ result, outputs }) => result.status === 'skipped' && (outputs?.size ?? 0) > 0) : [];
  const failed = options.update === undefined ? [] : cases.filter(({ result }) => result.status === 'failed');
  const usable = failed.filter(isReplaceable);
  const findings = failed.filter((one) => !isReplaceable(one)).map(({ result }) => notUpdated(result.name));
  const replaced = usable.length > 0 && (await isWanted(options.update, usable)) ? usable : [];
  const kept = [...recorded, ...replaced];
  if (kept.length === 0) return { kept: new Set(), findings: [...findings, nothingWritten(usable.length > 0)] };
  const place = target.kind === 'folder' ? await writeFolder(target, recorded, replaced, context) : await writeCarton(target, kept, context);
  const { findings: more, ...where } = place;
  return {
    written: { kind: 'self-test', samples: kept.map(({ result }) => result.name), ...where },
    kept: new Set(kept.map(({ index }) => index)),
    findings: [...findings, ...more],
  };
}

function isReplaceable({ outputs, expects }: RanCase): boolean {
  return outputs !== undefined && expects.length > 0 && expects.every((name) => outputs.has(name));
}

async function isWanted(update: UpdateConsent | undefined, cases: readonly RanCase[]): Promise<boolean> {
  return typeof update === 'function' ? update(cases.map(({ result }) => result)) : update === true;
}

/** Of a test with an expectation the outputs that it names, of others all. */
function toExpectation({ outputs = new Map(), expects }: RanCase): NamedTensors {
  return expects.length === 0 ? outputs : new Map([...outputs].filter(([name]) => expects.includes(name)));
}

type Place = Awaited<ReturnType<typeof recordInCarton>>;

async function writeCarton(target: RecordTarget & { readonly kind: 'carton' }, kept: readonly RanCase[], context: OpsContext): Promise<Place> {
  return recordInCarton(target, { expected: new Map(kept.map((one) => [one.index, toExpectation(one)])) }, context);
}

async function writeFolder(
  { source }: RecordTarget & { readonly kind: 'folder' },
  recorded: readonly RanCase[],
  replaced: readonly RanCase[],
  context: OpsContext,
): Promise<Place & Pick<SamplesWritten, 'files'>> {
  const toNew = (one: RanCase) => ({ index: one.index, name: one.result.name, tensors: toExpectation(one) });
  const old = replaceExpectations(source, replaced.map(toNew));
  const added = await addExpectations(source, recorded.map(toNew), context);
  const files = old();
  return { path: added.path, name: null, files: [...files, ...added.files], findings: [] };
}

function notUpdated(name: string): Finding {
  return {
    level: 'warning',
    code: 'test/not-updated',
    message: `What ${JSON.stringify(name)} expects was not changed: the model did not give all of it, or not as it declares`,
    where: name,
  };
}

function nothingWritten(wasDeclined: boolean): Finding {
  const message = wasDeclined ? 'Nothing was changed' : 'Nothing was changed: no self test had something to be kept';
  return { level: 'note', code: 'test/nothing-written', message };
}
