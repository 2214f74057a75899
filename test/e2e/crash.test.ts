/** Processes that are killed at any moment: what has a name is whole, and the next run finds nothing in its way. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { copy, createContext, edit, list, type OpsContext, pack, prune, rm, unpack, verify } from '../../src/ops/index.js';
import { type CliEnded, interruptCli, type Moment, runCli } from '../support/cli-process.js';
import { listFiles, readTree } from '../support/workbench.js';

const rounds = 12;
const files = 4;
const fileBytes = 8 * 1024 * 1024;

/** The model, and a store that holds it whole, made once. */
let base: string;
let model: string;
let reference: { readonly digest: string; readonly blobs: readonly string[] };

/** A store with one small package, new for every round. */
let room: string;
let home: string;

const contextOf = (given: Partial<OpsContext> = {}) => createContext({ home, cwd: room, env: {}, ...given });

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'crash-'));
  model = join(base, 'model');
  mkdirSync(model);
  for (let index = 0; index < files; index++) writeFileSync(join(model, `part-${index}.bin`), randomBytes(fileBytes));
  mkdirSync(join(base, 'small'));
  writeFileSync(join(base, 'small/README.md'), '# small\n');
  await enterRoom();
  const { digest } = await pack({ dir: model, format: 'modelpack', name: 'big:v1' }, contextOf());
  reference = { digest: digest ?? '', blobs: listBlobs(home) };
});
afterAll(() => rmSync(base, { recursive: true }));

beforeEach(enterRoom);
afterEach(leaveRoom);

async function enterRoom(): Promise<void> {
  room = mkdtempSync(join(base, 'room-'));
  home = join(room, 'home');
  await pack({ dir: join(base, 'small'), format: 'modelpack', name: 'small:v1' }, contextOf());
}

function leaveRoom(): void {
  rmSync(room, { recursive: true });
}

function listBlobs(store: string): string[] {
  return listFiles(join(store, 'blobs')).map((path) => `${path} ${statSync(join(store, 'blobs', path)).size}`);
}

/** From the very start to the end of the work, and a little later each. */
const moments: readonly Moment[] = Array.from({ length: rounds }, (_, round) => ({ line: round, laterMs: Math.floor(Math.random() * 40) }));

async function expectWholeStore(...names: readonly string[]): Promise<void> {
  expect(await verify({}, contextOf())).toMatchObject({ ok: true, problems: [] });
  expect((await list({}, contextOf())).packages.map(({ name }) => name)).toEqual(expect.arrayContaining(['small:v1', ...names]));
}

/** Nothing but packages is left, once what was abandoned is old enough to be nobody's. */
async function expectTidy(): Promise<void> {
  const hourAgo = Date.now() / 1000 - 3600;
  const isAbandoned = (name: string) => /^(\.modelport-|index\.lock|ingest)/.test(name);
  for (const name of readdirSync(home, { recursive: true, encoding: 'utf8' }).filter(isAbandoned)) utimesSync(join(home, name), hourAgo, hourAgo);
  await prune({}, contextOf());
  expect(readdirSync(home).filter((name) => name !== 'cache')).toEqual(['blobs', 'index.json', 'oci-layout']);
  expect(readdirSync(join(home, 'cache'))).toEqual(['digests.jsonl']);
}

const kill = (moment: Moment, ...args: string[]): Promise<CliEnded> => interruptCli(args, 'SIGKILL', moment, { home, cwd: room });

/** Once for each moment, in a new room. */
async function atEachMoment(work: (moment: Moment) => Promise<CliEnded>): Promise<void> {
  let killed = 0;
  for (const moment of moments) {
    leaveRoom();
    await enterRoom();
    const { code, signal, stderr } = await work(moment);
    if (signal === 'SIGKILL') killed++;
    else expect({ code, stderr }).toMatchObject({ code: 0 });
  }
  expect(killed).toBeGreaterThan(0);
}

describe('after SIGKILL', () => {
  it('pack', () =>
    atEachMoment(async (moment) => {
      const ended = await kill(moment, 'pack', model, '-t', 'big:v1');
      await expectWholeStore();
      expect((await pack({ dir: model, format: 'modelpack', name: 'big:v1' }, contextOf())).digest).toBe(reference.digest);
      await expectTidy();
      expect(listBlobs(home)).toEqual(reference.blobs);
      await expectWholeStore('big:v1');
      return ended;
    }));

  it('copy from the store to an archive', () =>
    atEachMoment(async (moment) => {
      await pack({ dir: model, format: 'modelpack', name: 'big:v1' }, contextOf());
      const place = join(room, 'out');
      mkdirSync(place);
      const ended = await kill(moment, 'copy', 'big:v1', './out/big.tar');
      await expectWholeStore('big:v1');
      if (existsSync(join(place, 'big.tar'))) expect(await verify({ location: './out/big.tar' }, contextOf())).toMatchObject({ ok: true });
      expect((await copy({ source: 'big:v1', destination: './out/big.tar' }, contextOf())).digest).toBe(reference.digest);
      expect(await verify({ location: './out/big.tar' }, contextOf())).toMatchObject({ ok: true });
      expect(readdirSync(place)).toEqual(['big.tar']);
      await expectTidy();
      return ended;
    }));

  it('copy from an archive to the store', async () => {
    const archive = join(base, 'big.tar');
    await pack({ dir: model, format: 'modelpack', output: archive }, contextOf());
    await atEachMoment(async (moment) => {
      const ended = await kill(moment, 'copy', archive, 'big:v1');
      await expectWholeStore();
      expect((await copy({ source: archive, destination: 'big:v1' }, contextOf())).digest).toBe(reference.digest);
      await expectTidy();
      expect(listBlobs(home)).toEqual(reference.blobs);
      return ended;
    });
  });

  it('edit', () =>
    atEachMoment(async (moment) => {
      await pack({ dir: model, format: 'modelpack', name: 'big:v1' }, contextOf());
      writeFileSync(join(room, 'more.bin'), randomBytes(fileBytes));
      const ended = await kill(moment, 'edit', 'big:v1', '-t', 'big:v2', '--add', './more.bin', '--remove', 'part-0.bin');
      await expectWholeStore('big:v1');
      const change = () => edit({ location: 'big:v1', name: 'big:v2', add: ['./more.bin'], remove: ['part-0.bin'] }, contextOf());
      expect((await change()).digest).toBe((await change()).digest);
      await expectTidy();
      await expectWholeStore('big:v1', 'big:v2');
      return ended;
    }));

  it('unpack to a new folder', () =>
    atEachMoment(async (moment) => {
      await pack({ dir: model, format: 'modelpack', name: 'big:v1' }, contextOf());
      const output = join(room, 'out/target');
      const ended = await kill(moment, 'unpack', 'big:v1', '-o', output);
      if (existsSync(output)) expect(readTree(output)).toEqual(readTree(model));
      await unpack({ location: 'big:v1', output, overwrite: existsSync(output) }, contextOf());
      expect(readTree(output)).toEqual(readTree(model));
      expect(readdirSync(join(room, 'out'))).toEqual(['target']);
      await expectTidy();
      return ended;
    }));

  it('unpack over a folder', () =>
    atEachMoment(async (moment) => {
      await pack({ dir: model, format: 'modelpack', name: 'big:v1' }, contextOf());
      const output = join(room, 'out');
      mkdirSync(output);
      writeFileSync(join(output, 'part-0.bin'), 'old');
      writeFileSync(join(output, 'mine.txt'), 'mine');
      const ended = await kill(moment, 'unpack', 'big:v1', '-o', output, '--overwrite');
      expect(readFileSync(join(output, 'mine.txt'), 'utf8')).toBe('mine');
      for (const name of readdirSync(output).filter((each) => each.startsWith('part-'))) {
        const found = readFileSync(join(output, name));
        expect((name === 'part-0.bin' && found.equals(Buffer.from('old'))) || found.equals(readFileSync(join(model, name)))).toBe(true);
      }
      await unpack({ location: 'big:v1', output, overwrite: true }, contextOf());
      rmSync(join(output, 'mine.txt'));
      expect(readTree(output)).toEqual(readTree(model));
      expect(readdirSync(output)).toHaveLength(files);
      return ended;
    }));

  it('prune', async () => {
    const since = performance.now();
    await runCli(['prune', '--dry-run'], { home, cwd: room });
    const usualMs = performance.now() - since;
    await atEachMoment(async ({ line }) => {
      await pack({ dir: model, format: 'modelpack', name: 'big:v1' }, contextOf());
      for (let index = 0; index < 20; index++)
        await pack({ dir: join(base, 'small'), format: 'modelpack', name: 'gone:v1', set: [`version=${index}`] }, contextOf());
      await rm({ names: ['gone:v1'] }, contextOf());
      const ended = await kill({ line: 0, laterMs: (usualMs * line) / rounds }, 'prune');
      await expectWholeStore('big:v1');
      await expectTidy();
      expect(listBlobs(home)).toEqual(reference.blobs);
      return ended;
    });
  });
});

describe('after SIGINT', () => {
  it.each<[string, (...places: string[]) => string[]]>([
    ['pack', () => ['pack', model, '-t', 'big:v1', '--layers', 'tar+gzip']],
    ['pack to an archive', () => ['pack', model, '-o', './out/big.tar', '--layers', 'tar+gzip']],
    ['unpack', () => ['unpack', 'gzipped:v1', '-o', './out/target']],
  ])('%s leaves nothing and ends with 130', async (_, argumentsOf) => {
    mkdirSync(join(room, 'out'));
    if (argumentsOf()[0] === 'unpack') await pack({ dir: model, format: 'modelpack', name: 'gzipped:v1', layers: ['tar+gzip'] }, contextOf());
    const before = listBlobs(home);
    const { code, stdout, stderr } = await interruptCli(argumentsOf(), 'SIGINT', { line: 1, laterMs: 0 }, { home, cwd: room });
    expect([code, stdout]).toEqual([130, '']);
    expect(stderr).toMatch(/Interrupted/);
    expect(readdirSync(join(room, 'out'))).toEqual([]);
    expect(readdirSync(home).filter((name) => name !== 'cache')).toEqual(['blobs', 'index.json', 'oci-layout']);
    await prune({}, contextOf());
    expect(listBlobs(home)).toEqual(before);
  });
});
