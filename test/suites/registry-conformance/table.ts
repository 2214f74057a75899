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

/**
 * The grid in Markdown: kinds of data in rows, checks in columns, in each field how many trials passed, as `3` when all did and as `2 of 3` when not.
 * Empty where a check has nothing to do with the data. The last row and column are sums.
 */
export function renderConformanceTable(results: readonly CellResult[]): string {
  const columns = checks.filter((check) => results.some((result) => result.check === check));
  const rows = [...new Set(results.map(({ data }) => data))];
  const toRow = (title: string, some: readonly CellResult[]) => {
    const fields = columns.map((column) => countPasses(some.filter(({ check }) => check === column)));
    return `| ${[title, ...fields, countPasses(some)].join(' | ')} |`;
  };
  return [
    `| data | ${columns.join(' | ')} | all |`,
    `| --- | ${[...columns, ''].map(() => '---:').join(' | ')} |`,
    ...rows.map((data) =>
      toRow(
        data,
        results.filter((result) => result.data === data),
      ),
    ),
    toRow('all', results),
    '',
  ].join('\n');
}

function countPasses(results: readonly CellResult[]): string {
  if (results.length === 0) return '';
  const passes = results.filter(({ passed }) => passed).length;
  return passes === results.length ? String(passes) : `${passes} of ${results.length}`;
}
