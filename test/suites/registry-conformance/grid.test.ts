import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Behaviour } from '../../support/registry/behaviour.js';
import { startTestRegistry } from '../../support/registry/test-registry.js';
import { Bench } from './bench.js';
import { type Check, checks, type ConformanceCell, type ConformanceVersion, trialOf } from './cell.js';
import { conformanceCells } from './cells.js';
import { type CellResult, renderChecks, renderKinds, runConformance } from './table.js';

async function runOverTestRegistry(behaviour: Partial<Behaviour>, version: ConformanceVersion, ...data: readonly string[]): Promise<CellResult[]> {
  const registry = await startTestRegistry({ behaviour });
  const bench = new Bench(registry.url, version);
  const results = await runConformance(bench, (cell) => data.includes(cell.data));
  bench.close();
  await registry.close();
  return results;
}

function checksThatFail(results: readonly CellResult[]): Check[] {
  return checks.filter((check) => results.some((result) => result.check === check && !result.passed));
}

const nameOf = (cell: ConformanceCell): string => `${cell.data} / ${trialOf(cell)}`;

const deletions = ['Tag delete', 'Tag delete atomic', 'Blob delete', 'Blob delete atomic', 'Manifest delete', 'Manifest delete atomic'] as const;

/** A fault, what has to notice it, and with which data. */
const faults: readonly (readonly [string, Partial<Behaviour>, readonly Check[], string])[] = [
  ['no referrers', { referrers: false }, ['Manifest put with subject', 'Referrers'], 'artifacts with subject'],
  ['no filters of referrers', { filtersReferrers: false }, ['Referrers'], 'artifacts with subject'],
  ['no whole blob in a POST', { monolithicPost: false }, ['Blob post only'], 'image'],
  ['no mounts', { acceptsMount: false }, ['Blob mount', 'Blob anonymous mount'], 'image'],
  ['no ranges', { ignoreRange: true }, ['Blob get range'], 'image'],
  ['no deletions', { deletes: false }, deletions, 'image'],
  ['no deletions of tags', { deletes: 'by-digest' }, ['Tag delete', 'Tag delete atomic'], 'image'],
  ['no order among chunks', { checksContentRange: false }, ['Blob chunked'], 'blobs sha256'],
  ['no chunks', { chunked: 'refuse-416' }, ['Blob upload cancel', 'Blob chunked', 'Blob streaming'], 'image'],
  ['no large manifests', { manifestLimit: 3_000_000 }, ['Manifest put by digest', 'Manifest put by tag'], 'large manifest'],
  ['digest headers that lie', { wrongContentDigest: true }, ['Manifest get by digest', 'Manifest get by tag'], 'image'],
];

describe('the grid', () => {
  it.each(['1.1', 'dev'] as const)('%s: has no cell twice, and every check somewhere', (version) => {
    const cells = conformanceCells(version);
    expect(new Set(cells.map(nameOf)).size).toBe(cells.length);
    const unused = checks.filter((wanted) => !cells.some(({ check }) => check === wanted));
    expect(unused).toEqual(version === 'dev' ? [] : ['Blob upload cancel', 'Manifest put with tag params']);
  });

  it.each(faults)('notices a registry with %s', async (_what, behaviour, expected, data) => {
    const failing = checksThatFail(await runOverTestRegistry(behaviour, 'dev', data));
    expect(failing).toEqual(expect.arrayContaining([...expected]));
  });

  it('has nothing against a registry that keeps to the specification, but that it does not refuse a range that ends before it begins', async () => {
    const results = await runOverTestRegistry({}, 'dev', 'registry', 'blobs sha256', 'blobs sha512', 'artifacts with subject', 'tag params sha512');
    expect(results.filter(({ passed }) => !passed).map(nameOf)).toEqual([
      'blobs sha256 / Blob get range: 500-0',
      'blobs sha512 / Blob get range: 500-0',
    ]);
  });

  it('wants digest headers only of the main branch', async () => {
    expect(checksThatFail(await runOverTestRegistry({ dropContentDigest: true }, '1.1', 'image'))).toEqual([]);
    expect(checksThatFail(await runOverTestRegistry({ dropContentDigest: true }, 'dev', 'image'))).toContain('Manifest head by digest');
  });
});

describe('the table of the grid', () => {
  it('counts the trials that passed, of how many', () => {
    const results: CellResult[] = [
      { data: 'image', check: 'Blob get', passed: true },
      { data: 'image', check: 'Ping', passed: false },
      { data: 'blobs', check: 'Blob get', trial: 'a', passed: true },
      { data: 'blobs', check: 'Blob get', trial: 'b', passed: true },
    ];
    const columns = [
      { title: 'ours', results },
      { title: 'theirs', results: results.slice(0, 1) },
    ];
    expect(renderChecks(columns).split('\n')).toEqual(
      expect.arrayContaining([
        '| check | ours | theirs |',
        '| --- | ---: | ---: |',
        '| Blob get | 3 | 1 |',
        '| Ping | 0 of 1 |  |',
        '| all | 3 of 4 | 1 |',
      ]),
    );
    expect(renderKinds(columns)).toBe(
      ['| data | ours | theirs |', '| --- | ---: | ---: |', '| image | 1 of 2 | 1 |', '| blobs | 2 |  |', '| all | 3 of 4 | 1 |', ''].join('\n'),
    );
  });

  it('stands in the documentation as it is', () => {
    const columns = (['1.1', 'dev'] as const).map((title) => ({
      title,
      results: conformanceCells(title).map((cell) => ({ ...cell, passed: true })),
    }));
    const page = readFileSync(new URL('../../../docs/registry.md', import.meta.url), 'utf8').split('\n');
    const rows = renderChecks(columns).split('\n').slice(2, -1);
    expect(rows.filter((row) => !page.some((line) => line.startsWith(row)))).toEqual([]);
  });
});
