/** Sections → Markdown that is readable on a terminal as it is. Pure. */
import type { Fact } from './machine.js';
import type { Done } from './measure.js';
import { type Results, type Step, compareWalls, listDone, median, toRatio } from './rounds.js';
import type { Section, Table, Target } from './section.js';

export function toReport(facts: readonly Fact[], sections: readonly Section[], notes: readonly string[]): string {
  const parts = [
    toTable(
      ['', 'this run'],
      facts.map(({ name, value }) => [name, value]),
    ),
    ...notes,
    ...sections.map(toSection),
  ];
  return `${parts.join('\n\n')}\n`;
}

function toSection({ title, steps, results, targets, tables, notes }: Section): string {
  const rows = steps.map((step) => toStepRow(step, results));
  const all: readonly Table[] = [
    { titles: ['step', 'min, s', 'median, s', 'max, s', 'cpu, s', 'memory, MB', 'ratio', 'beside'], rows },
    { titles: ['target', 'limit', 'measured', 'met'], rows: targets.map(toTargetRow) },
    ...tables,
  ];
  const shown = all.filter((table) => table.rows.length > 0).map((table) => toTable(table.titles, table.rows));
  return [`### ${title}`, ...shown, ...notes].join('\n\n');
}

function toStepRow(step: Step, results: Results): string[] {
  const done = listDone(results, step.name);
  const failures = (results.get(step.name) ?? []).flatMap((outcome) => (outcome?.kind === 'failed' ? [outcome.reason] : []));
  const title = step.ours === true ? `**${step.name}**` : step.name;
  if (done.length === 0) return [`${title}: failed`, ...failures.slice(0, 1).map(toCell)];
  const walls = done.map(({ wall }) => wall);
  const times = [Math.min(...walls), median(walls), Math.max(...walls)].map(toSeconds);
  const ratio = step.beside === undefined ? undefined : compareWalls(results, step.name, step.beside, toRatio);
  const beside = ratio === undefined ? ['', ''] : [ratio.toFixed(2), step.beside ?? ''];
  const failed = failures.length === 0 ? '' : `: failed in ${failures.length} rounds`;
  return [`${title}${failed}`, ...times, ...toUsage(done), ...beside];
}

/** Processor time: the median. Memory: the most that was ever seen. */
function toUsage(done: readonly Done[]): string[] {
  const cpu = done.flatMap((outcome) => outcome.cpu ?? []);
  const rss = done.flatMap((outcome) => outcome.rss ?? []);
  return [cpu.length === 0 ? '-' : toSeconds(median(cpu)), rss.length === 0 ? '-' : (Math.max(...rss) / 1e6).toFixed(0)];
}

/** A figure is judged as it is printed. */
function toTargetRow({ what, unit, bound, limit, measured }: Target): string[] {
  const digits = { x: 2, times: 4, s: 3, ms: 1, MB: 0, MiB: 1 }[unit];
  if (measured === undefined) return [what, `${bound} ${limit} ${unit}`, 'not measured', '-'];
  const shown = measured.toFixed(digits);
  const met = bound === 'at most' ? Number(shown) <= limit : Number(shown) >= limit;
  return [what, `${bound} ${limit} ${unit}`, `${shown} ${unit}`, met ? 'yes' : '**no**'];
}

function toSeconds(seconds: number): string {
  return seconds.toFixed(seconds < 1 ? 3 : 2);
}

function toCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function toTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = titles.map((title, at) => Math.max(3, title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${widths.map((width, at) => (cells[at] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(titles), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
