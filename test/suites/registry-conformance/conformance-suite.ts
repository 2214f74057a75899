import { afterAll, beforeAll, describe, it } from 'vitest';
import { Bench } from './bench.js';
import { listBeyondCells } from './beyond/beyond-cells.js';
import { type ConformanceVersion, trialOf } from './cell.js';
import { listCells } from './cells.js';

/** A registry that has nothing yet. */
export interface RegistryUnderTest {
  /** With scheme, without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

/** What the official suite wants of a registry, a cell a test. */
export function conformanceSuite(title: string, start: () => Promise<RegistryUnderTest>, version: ConformanceVersion): void {
  describe(`${title}, distribution-spec ${version}`, () => {
    const bench = useBench(start, version);
    for (const cell of listCells(version)) it(`${cell.data} / ${trialOf(cell)}`, () => checkCell(cell, bench()));
  });
}

/** What the specification and RFC 9110 want beyond what the official suite looks at, and what an attacker tries. */
export function beyondSuite(title: string, start: () => Promise<RegistryUnderTest>): void {
  describe(`${title}, beyond the official suite`, () => {
    const bench = useBench(start, 'dev');
    for (const cell of listBeyondCells()) it(`${cell.area} / ${cell.rule}`, () => checkCell(cell, bench()));
  });
}

function checkCell(cell: { run(bench: Bench): Promise<void> }, bench: Bench): Promise<void> {
  return cell.run(bench);
}

/** Starts the registry before the tests of the block, and closes it after them. */
function useBench(start: () => Promise<RegistryUnderTest>, version: ConformanceVersion): () => Bench {
  let registry: RegistryUnderTest;
  let bench: Bench;

  beforeAll(async () => {
    registry = await start();
    bench = new Bench(registry.url, version);
  });

  afterAll(async () => {
    bench.close();
    await registry.close();
  });

  return () => bench;
}
