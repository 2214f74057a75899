import type { TestCaseResult, TestOutputResult, TestResult } from '../../ops/index.js';
import type { Style } from '../terminal.js';
import { renderFindings } from './findings.js';
import type { Render } from './rendered.js';
import { renderWritten } from './written.js';

export const renderTest: Render<TestResult> = (result, style) => {
  const { passed, failed, skipped, cases, runtime, written, findings } = result;
  const verdict = failed > 0 ? style.color.red('Failed') : passed > 0 ? style.color.green('Passed') : style.color.yellow('Nothing compared');
  const on = runtime === undefined ? '' : ` (${runtime.name} ${runtime.version})`;
  return {
    out: [...renderCases(cases, style), `${verdict}: ${passed} passed, ${failed} failed, ${skipped} skipped${on}`, ...renderWritten(written)],
    err: renderFindings([...findings, ...cases.flatMap((one) => one.findings)], style),
    quiet: [`${passed} passed, ${failed} failed, ${skipped} skipped`],
  };
};

export function renderCases(cases: readonly TestCaseResult[], style: Style): string[] {
  return cases.flatMap((one) => renderCase(one, style));
}

function renderCase({ name, status, outputs, message, kept }: TestCaseResult, style: Style): string[] {
  const paint = { passed: style.color.green, failed: style.color.red, skipped: style.color.yellow }[status];
  const shown = outputs.filter((output) => status === 'failed' || output.maxAbsError !== undefined);
  const said = message !== undefined && !outputs.some((output) => output.message === message) ? [`  ${message}`] : [];
  const now = kept === true ? style.color.dim(' · expected from now on') : '';
  return [`${paint(status.padEnd(7))} ${style.color.bold(name)}${now}`, ...said, ...shown.map((output) => renderOutput(output, style))];
}

function renderOutput({ name, status, maxAbsError, at, message }: TestOutputResult, style: Style): string {
  const error = maxAbsError === undefined || maxAbsError === 0 ? '' : `, off by at most ${Number(maxAbsError.toPrecision(4))}`;
  const where = at === undefined ? '' : ` at [${at.join(', ')}]`;
  const words = status === 'passed' ? `right${error}` : `${message ?? 'wrong'}${message === undefined ? error + where : ''}`;
  return `  ${status === 'passed' ? style.color.dim(name) : style.color.red(name)}: ${words}`;
}
