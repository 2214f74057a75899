/** One vintage to another and back: the files stay, the blobs stay where they can, and what is lost is said first. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Finding } from '../../src/core/index.js';
import { convert, type ConvertOptions, diff, inspect, list, pack, type PackOptions, unpack, validate, verify } from '../../src/ops/index.js';
import { readManifest } from '../support/read-stored.js';
import { createWorkbench, readTree, tinyModel, toTree, type Workbench } from '../support/workbench.js';

let bench: Workbench;
beforeEach(() => {
  bench = createWorkbench();
});
afterEach(() => bench.close());

const fields = [
  'name=tiny',
  'version=1.0',
  'licenses=Apache-2.0',
  'authors=Ada,Bob',
  'description=A tiny one',
  'createdAt=2026-01-02T03:04:05Z',
  'family=tiny',
  'title=Tiny',
];
const packed = (name: string, more: Partial<PackOptions> = {}) =>
  pack({ dir: bench.write('model', tinyModel), format: 'modelpack', name, set: fields, ...more }, bench.context());
const converted = (source: string, destination: string, more: Partial<ConvertOptions> = {}) =>
  convert({ source, destination, format: 'modelpack', ...more }, bench.context());

async function unpacked(location: string) {
  const output = bench.path('out', location.replaceAll(/[/:]/g, '-'));
  await unpack({ location, output }, bench.context());
  return readTree(output);
}

const layersOf = async (name: string) => (await readManifest(bench, name)).layers.map(({ digest }) => digest);

const pairs = [
  ['cncf', 'cnai'],
  ['cncf', 'draft-2024'],
  ['cnai', 'cncf'],
  ['cnai', 'draft-2024'],
  ['draft-2024', 'cncf'],
  ['draft-2024', 'cnai'],
] as const;

describe.each(pairs)('%s to %s and back', (from, to) => {
  it('keeps files and fields', async () => {
    await packed('a:1', { vintage: from, layers: from === 'cncf' ? ['tar'] : [] });
    const there = await converted('a:1', 'b:1', { vintage: to });
    expect(there).toMatchObject({ format: 'modelpack', vintage: to, name: 'b:1', lost: [], dryRun: false });
    await converted('b:1', 'c:1', { vintage: from });
    for (const name of ['b:1', 'c:1']) {
      expect(await unpacked(name)).toEqual(toTree(tinyModel));
      expect(await verify({ location: name }, bench.context())).toMatchObject({ ok: true, problems: [] });
      expect(await validate({ location: name, strict: true }, bench.context())).toMatchObject({ vintage: name === 'b:1' ? to : from, valid: true });
      expect(await diff({ a: 'a:1', b: name }, bench.context())).toMatchObject({ equal: true });
    }
  });

  it('is as if it had been packed so', async () => {
    await packed('a:1', { vintage: from, layers: from === 'cncf' ? ['tar'] : [] });
    const { digest } = await converted('a:1', 'b:1', { vintage: to });
    const { digest: direct } = await packed('c:1', { vintage: to, layers: to === 'cncf' && from !== 'draft-2024' ? ['tar'] : [] });
    expect(digest).toBe(direct);
  });
});

it.each([
  ['cncf', 'cnai'],
  ['cnai', 'cncf'],
] as const)('%s to %s touches no blob', async (from, to) => {
  await packed('a:1', { vintage: from, layers: ['tar'] });
  const context = bench.context();
  await convert({ source: 'a:1', destination: 'b:1', format: 'modelpack', vintage: to }, context);
  expect(await layersOf('b:1')).toEqual(await layersOf('a:1'));
  const [a, b] = [await readManifest(bench, 'a:1'), await readManifest(bench, 'b:1')];
  expect(b.config.digest).toBe(a.config.digest);
  expect(b.config.mediaType).toBe(`application/vnd.${to}.model.config.v1+json`);
  expect(context.counters.written).toBeLessThan(10_000);
});

it('raw layers keep their blobs in cnai, and that is said', async () => {
  await packed('a:1');
  const { findings, lost } = await converted('a:1', 'b:1', { vintage: 'cnai' });
  expect(lost).toEqual([]);
  expect(findings).toMatchObject([{ level: 'warning', code: 'modelpack/raw-in-cnai' }]);
  expect(await layersOf('b:1')).toEqual(await layersOf('a:1'));
  expect(await unpacked('b:1')).toEqual(toTree(tinyModel));
  await converted('b:1', 'c:1', { vintage: 'cncf' });
  expect((await inspect({ location: 'c:1' }, bench.context())).digest).toBe((await inspect({ location: 'a:1' }, bench.context())).digest);
});

describe('what is lost', () => {
  const rich = [...fields, 'datasets=https://example.com/set', 'inputTypes=text', 'reasoning=true'];

  it('is said before anything is written', async () => {
    await packed('a:1', { set: rich });
    const told: string[] = [];
    const announce = (findings: readonly Finding[]) => void told.push(...findings.map(({ where }) => where ?? ''));
    await convert({ source: 'a:1', destination: 'b:1', format: 'modelpack', vintage: 'draft-2024' }, bench.context({ announce }));
    expect(told).toEqual(['identity.datasets', 'capabilities']);
    const { metadata, files, equal } = await diff({ a: 'a:1', b: 'b:1' }, bench.context());
    expect(equal).toBe(false);
    expect(new Set(metadata.map(({ field }) => field.replace(/^capabilities\..*/, 'capabilities')))).toEqual(new Set(told));
    expect(files).toEqual({ added: [], removed: [], changed: [], renamed: [] });
  });

  it('stops a conversion that may lose nothing', async () => {
    await packed('a:1', { set: rich });
    const refused = converted('a:1', 'b:1', { vintage: 'draft-2024', failOnLoss: true });
    await expect(refused).rejects.toMatchObject({
      code: 'ops/refused',
      exitCode: 1,
      findings: [{ where: 'identity.datasets' }, { where: 'capabilities' }],
    });
    await converted('a:1', 'ok:1', { vintage: 'cnai', failOnLoss: true });
    expect((await list({}, bench.context())).packages.map(({ name }) => name)).toEqual(['a:1', 'ok:1']);
  });

  it('can be asked for without writing', async () => {
    const { digest } = await packed('a:1', { set: rich });
    const result = await converted('a:1', 'b:1', { vintage: 'draft-2024', dryRun: true });
    expect(result).toMatchObject({ dryRun: true, digest, name: null, lost: [{ where: 'identity.datasets' }, { where: 'capabilities' }] });
    expect((await list({}, bench.context())).packages).toHaveLength(1);
  });
});

it.each([
  ['another format', 'a:1', { format: 'carton' }, 'format/unknown'],
  ['another vintage', 'a:1', { vintage: 'v9' }, expect.any(String)],
  ['a bare folder', './model', {}, 'format/unsupported'],
  ['what is not there', 'none:1', {}, 'store/name-not-found'],
  ['an image', 'a:1-image', {}, 'format/unsupported'],
])('refuses %s', async (_, source, more, code) => {
  await packed('a:1', { hybrid: true });
  await expect(converted(source, 'b:1', more)).rejects.toMatchObject({ code });
});
