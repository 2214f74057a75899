import {
  createError,
  type Finding,
  hasErrors,
  isToolkitError,
  type LazyTensor,
  type NamedTensors,
  type SelfTest,
  type Tensor,
} from '../../core/index.js';
import { compareTensors } from '../../tensors/index.js';
import type { OpsContext } from '../context.js';
import { distinct } from '../package.js';
import type { TestCaseResult, TestOutputResult, TestResult } from '../results.js';
import { onlyDeclared } from './record.js';
import { openRunnable } from './runnable.js';
import { infer, type Inferred, type JudgedInputs, judgeInputs, type OpenSession, type SessionOptions, startSession, toError } from './session.js';
import { keepExpectations, planUpdate, type RanCase, type UpdateOptions } from './update.js';

export interface TestOptions extends SessionOptions, UpdateOptions {
  /** Over those of the package; without any 1e-5 and 1e-8, as numpy.allclose. */
  readonly rtol?: number;
  readonly atol?: number;
  /** NaN where NaN is expected is right. */
  readonly equalNan?: boolean;
  /** Only the tests of these names, or numbers counted from 1. */
  readonly only?: readonly string[];
}

/** Runs the package's own self tests. One that compares nothing is `skipped` with the reason, never `passed`. */
export async function test(options: TestOptions, context: OpsContext): Promise<TestResult> {
  const runnable = await openRunnable({ ...options, withSamples: true }, context);
  const named = (runnable.pkg.samples?.selfTests ?? []).map((one, index) => ({
    one,
    index,
    name: one.name ?? `self test ${index + 1}`,
    number: String(index + 1),
  }));
  const target = await planUpdate(options, runnable, options.location);
  const chosen = chooseTests(named, options);
  if (chosen.length === 0)
    return summarize([], [{ level: 'warning', code: 'test/no-tests', message: `"${options.location}" has no self tests: nothing was tested` }]);
  const opened = await startSession(runnable, options, context);
  const cases: RanCase[] = [];
  for (const { one, index, name } of chosen) {
    const item = context.progress.start('test', name);
    cases.push({ index, ...(await runCase(one, name, opened, options, context)) });
    item.done();
  }
  const runtime = { name: opened.runtime.id, version: opened.session.version };
  const results = cases.map(({ result }) => result);
  if (target === undefined) return summarize(results, opened.findings, runtime);
  const { written, kept, findings } = await keepExpectations(cases, target, options, context);
  const marked = cases.map(({ index, result }): TestCaseResult => (kept.has(index) ? { ...result, kept: true } : result));
  return { ...summarize(marked, [...opened.findings, ...findings], runtime), ...(written === undefined ? {} : { written }) };
}

function chooseTests<T extends { readonly name: string; readonly number: string }>(
  tests: readonly T[],
  { only = [], location }: TestOptions,
): readonly T[] {
  for (const word of only)
    if (!tests.some(({ name, number }) => word === name || word === number))
      throw createError('ops/bad-option', {
        message: `Cannot run the self test "${word}" of "${location}": there is none of that name`,
        hint:
          tests.length === 0
            ? 'It has no self tests'
            : `There are: ${tests
                .slice(0, 8)
                .map(({ name }) => name)
                .join(', ')}`,
      });
  return only.length === 0 ? tests : tests.filter(({ name, number }) => only.includes(name) || only.includes(number));
}

function summarize(cases: readonly TestCaseResult[], findings: readonly Finding[], runtime?: TestResult['runtime']): TestResult {
  const count = (status: TestCaseResult['status']) => cases.filter((one) => one.status === status).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    ...(runtime === undefined ? {} : { runtime }),
    cases,
    findings: distinct(findings),
  };
}

/** A session that has ended fails every later case too, each with the reason. */
async function runCase(one: SelfTest, name: string, opened: OpenSession, options: TestOptions, context: OpsContext): Promise<Omit<RanCase, 'index'>> {
  const expects = [...(one.expected?.keys() ?? [])];
  let given: { readonly outputs?: NamedTensors } = {};
  let wrongInputs: readonly Finding[] = [];
  try {
    const judged = judgeInputs(await loadAll(one.inputs), opened);
    wrongInputs = judged.findings;
    const { outputs, findings } = await answer(judged, opened, context);
    if (!hasErrors(findings)) given = { outputs: onlyDeclared(outputs, opened.model.outputs).outputs };
    const { rtol, atol } = one;
    return { result: await judgeAnswer(one, name, outputs, findings, { rtol, atol, ...options }), expects, ...given };
  } catch (error) {
    if (!isToolkitError(error) || error.code === 'core/cancelled' || error.exitCode === 70) throw error;
    // What a model makes of inputs that are not what it declares is no wonder: those are named first.
    const message = wrongInputs.find(({ level }) => level === 'error')?.message ?? error.message;
    return { result: { name, status: 'failed', outputs: [], message, findings: distinct([...wrongInputs, ...error.findings]) }, expects, ...given };
  }
}

async function judgeAnswer(
  { expected }: SelfTest,
  name: string,
  outputs: NamedTensors,
  findings: readonly Finding[],
  tolerance: Tolerance,
): Promise<TestCaseResult> {
  if (expected !== undefined && expected.size > 0) return compare(name, outputs, await loadAll(expected), findings, tolerance);
  if (hasErrors(findings)) throw toError('runtime/bad-output', findings);
  return { name, status: 'skipped', outputs: [], message: 'It ran, and the package does not say what should come out', findings };
}

/** It runs with wrong inputs too, as packages that were never tested hold such: the test fails, and says what came of it. */
async function answer(judged: JudgedInputs, opened: OpenSession, context: OpsContext): Promise<Inferred> {
  let last: Inferred = { outputs: new Map(), findings: [] };
  for await (const item of infer(opened, judged, context)) last = item;
  return { ...last, findings: [...judged.findings, ...last.findings] };
}

async function loadAll(tensors: ReadonlyMap<string, LazyTensor>): Promise<NamedTensors> {
  const loaded = new Map<string, Tensor>();
  for (const [name, load] of tensors) loaded.set(name, await load());
  return loaded;
}

interface Tolerance {
  readonly rtol?: number | undefined;
  readonly atol?: number | undefined;
  readonly equalNan?: boolean | undefined;
}

function compare(name: string, actual: NamedTensors, expected: NamedTensors, findings: readonly Finding[], tolerance: Tolerance): TestCaseResult {
  const { rtol = 1e-5, atol = 1e-8, equalNan = false } = tolerance;
  const outputs = [...expected].map(([output, tensor]): TestOutputResult => {
    const found = actual.get(output);
    if (found === undefined) return { name: output, status: 'failed', message: `missing output "${output}": the model gave ${listNames(actual)}` };
    const { equal, reason, maxAbsError, at } = compareTensors(found, tensor, { rtol, atol, equalNan });
    return {
      name: output,
      status: equal ? 'passed' : 'failed',
      ...(maxAbsError === undefined ? {} : { maxAbsError }),
      ...(at === undefined || equal ? {} : { at }),
      ...(reason === undefined ? {} : { message: reason }),
    };
  });
  const extra = [...actual.keys()].filter((output) => !expected.has(output)).map(toExtra);
  const breaches = findings.filter(({ level }) => level === 'error');
  const firstFailed = outputs.find(({ status }) => status === 'failed');
  const failed = firstFailed !== undefined || breaches.length > 0;
  const message = firstFailed?.message ?? breaches[0]?.message;
  return {
    name,
    status: failed ? 'failed' : 'passed',
    outputs,
    ...(failed && message !== undefined ? { message } : {}),
    findings: distinct([...findings, ...extra]),
  };
}

function listNames(tensors: NamedTensors): string {
  return tensors.size === 0 ? 'none' : [...tensors.keys()].map((name) => JSON.stringify(name)).join(', ');
}

function toExtra(output: string): Finding {
  return {
    level: 'warning',
    code: 'test/extra-output',
    message: `The model gives an output ${JSON.stringify(output)} that the self test does not expect`,
    where: output,
  };
}
