import { listBlobCells } from './blob-cells.js';
import { type ConformanceCell, type ConformanceVersion, type RunnableCell } from './cell.js';
import { listSampleCells } from './sample-cells.js';
import { listSingleCells } from './single-cells.js';

/** The whole grid: what the official suite checks, and every check with every kind of data that it has something to do with. */
export function listCells(version: ConformanceVersion): RunnableCell[] {
  return [...listSingleCells(), ...listBlobCells(version), ...listSampleCells(version)];
}

/** The grid without its code, for a page about it. */
export function conformanceCells(version: ConformanceVersion): ConformanceCell[] {
  return listCells(version).map(({ data, check, trial }) => ({ data, check, ...(trial === undefined ? {} : { trial }) }));
}
