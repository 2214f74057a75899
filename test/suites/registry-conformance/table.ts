import { type Bench } from './bench.js';
import { checks, type ConformanceCell } from './cell.js';
import { listCells } from './cells.js';

export interface CellResult extends ConformanceCell {
  readonly passed: boolean;
}

/** Tries the cells that are wanted, one after the other, and goes on after a failure: for a page that shows what came of it. */
export async function runConformance(bench: Bench, isWanted: (cell: ConformanceCell) => boolean = () => true): Promise<CellResult[]> {
  const results: CellResult[] = [];
  for (const { run, ...cell } of listCells(bench.version).filter(isWanted)) {
    const passed = await run(bench).then(
      () => true,
      () => false,
    );
    results.push({ ...cell, passed });
  }
  return results;
}

/** One column: what came of the cells of one version, at one registry. */
export interface TableColumn {
  readonly title: string;
  readonly results: readonly CellResult[];
}

/** The grid in Markdown, by check: in each field how many trials passed, as `3` when all did and as `2 of 3` when not. The last row is the sum. */
export function renderChecks(columns: readonly TableColumn[]): string {
  return renderTable('check', checks, ({ check }) => check, columns);
}

/** The same by kind of data. */
export function renderKinds(columns: readonly TableColumn[]): string {
  const kinds = new Set(columns.flatMap(({ results }) => results.map(({ data }) => data)));
  return renderTable('data', [...kinds], ({ data }) => data, columns);
}

function renderTable(title: string, rows: readonly string[], rowOf: (result: CellResult) => string, columns: readonly TableColumn[]): string {
  const toRow = (name: string, isWanted: (result: CellResult) => boolean) =>
    `| ${[name, ...columns.map(({ results }) => countPasses(results.filter(isWanted)))].join(' | ')} |`;
  return [
    `| ${[title, ...columns.map((column) => column.title)].join(' | ')} |`,
    `| --- | ${columns.map(() => '---:').join(' | ')} |`,
    ...rows.map((name) => toRow(name, (result) => rowOf(result) === name)),
    toRow('all', () => true),
    '',
  ].join('\n');
}

function countPasses(results: readonly CellResult[]): string {
  if (results.length === 0) return '';
  const passes = results.filter(({ passed }) => passed).length;
  return passes === results.length ? String(passes) : `${passes} of ${results.length}`;
}
