/** Transfers that are killed at any moment: what has a name is whole, the next run finishes, and what was finished does not move again. */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { digestOf } from '../../src/bytes/index.js';
import { verify } from '../../src/ops/index.js';
import { type CliEnded, interruptCli, type Moment } from '../support/cli-process.js';
import { makeBytes } from '../support/distant-blob.js';
import { createRegistryBench, type RegistryBench } from '../support/registry-bench.js';
import type { LogEntry } from '../support/registry/request-log.js';
import { makeTensors } from '../support/weight-files.js';
import { readTree } from '../support/workbench.js';

const MiB = 1024 * 1024;
const rounds = 12;
const shards = 3;

/** From the start of the program to the end of its work, always the same ones. */
const moments: readonly Moment[] = Array.from({ length: rounds }, (_, round) => ({
  line: Math.floor(round / 3),
  laterMs: makeBytes(rounds, 'moments').readUInt8(round) % 60,
}));

let bench: RegistryBench;
let model: string;
let expected: ReturnType<typeof readTree>;
beforeAll(async () => {
  bench = await createRegistryBench();
  model = bench.write(
    'model',
    Object.fromEntries(Array.from({ length: shards }, (_, shard) => [`model-${shard}.safetensors`, makeShard(shard)] as const)),
  );
  expected = readTree(model);
});
afterAll(() => bench.end());

function makeShard(shard: number): Uint8Array {
  const bytes = Buffer.from(makeTensors({ [`w${shard}`]: ['F32', [2 * MiB], 8 * MiB] }));
  makeBytes(8 * MiB, `shard ${shard}`).copy(bytes, bytes.byteLength - 8 * MiB);
  return bytes;
}

/** A store of its own for each round, so that nothing is known from before. */
const kill = (home: string, moment: Moment, ...args: string[]): Promise<CliEnded> => interruptCli(args, 'SIGKILL', moment, { home, cwd: bench.base });

/** Blobs that the registry took in these requests. */
function listTaken(log: readonly LogEntry[]): string[] {
  return log.flatMap(({ method, status, path, query }) =>
    method === 'PUT' && status === 201 && path.includes('/uploads/') ? [query.get('digest') ?? ''] : [],
  );
}

/** Once for each moment; at least some are hit. */
async function atEachMoment(work: (moment: Moment, round: number) => Promise<CliEnded>): Promise<void> {
  let killed = 0;
  for (const [round, moment] of moments.entries()) {
    const { code, signal, stderr } = await work(moment, round);
    if (signal === 'SIGKILL') killed++;
    else expect({ code, stderr }).toMatchObject({ code: 0 });
  }
  expect(killed).toBeGreaterThan(rounds / 3);
}

it('push', () =>
  atEachMoment(async (moment, round) => {
    const repository = `push-${round}`;
    const name = `${bench.registry.host}/${repository}:v1`;
    const home = bench.path(`home-push-${round}`);
    const context = bench.context({ home });
    const start = bench.registry.log.length;
    const ended = await kill(home, moment, 'push', model, name);
    const before = bench.registry.log.slice(start);
    const isNamed = bench.registry.findManifest(repository, 'v1') !== undefined;
    if (isNamed) expect(await verify({ location: name }, context)).toMatchObject({ ok: true });
    const done = listTaken(before);
    bench.env['MODELPORT_HOME'] = home;
    const after = await bench.requestsOf(async () => expect(await bench.run('push', model, name)).toMatchObject({ code: 0 }));
    expect(listTaken(after).filter((digest) => done.includes(digest))).toEqual([]);
    expect(await verify({ location: name }, bench.context({ home, network: { names: 'remote' } }))).toMatchObject({ ok: true, problems: [] });
    return ended;
  }));

it('pull to a folder', async () => {
  const name = `${bench.registry.host}/push-0:v1`;
  await atEachMoment(async (moment, round) => {
    const home = bench.path(`home-pull-${round}`);
    const place = bench.path(`place-${round}`);
    const ended = await kill(home, moment, 'pull', name, '-o', `${place}/out`);
    expectOnlyWhole(`${place}/out`);
    const done = listWhole(place);
    bench.env['MODELPORT_HOME'] = home;
    const requests = await bench.requestsOf(async () => {
      const args = existsSync(`${place}/out`) ? ['--overwrite'] : [];
      expect(await bench.run('pull', name, '-o', `${place}/out`, ...args)).toMatchObject({ code: 0 });
    });
    expect(readTree(`${place}/out`)).toEqual(expected);
    if (ended.signal === 'SIGKILL') expect(fetched(requests, done)).toEqual([]);
    expect(readdirSync(place)).toEqual(['out']);
    rmSync(place, { recursive: true });
    return ended;
  });
});

it('pull to the store', async () => {
  const name = `${bench.registry.host}/push-0:v1`;
  await atEachMoment(async (moment, round) => {
    const home = bench.path(`home-keep-${round}`);
    const ended = await kill(home, moment, 'pull', name);
    const context = bench.context({ home });
    const done = existsSync(join(home, 'blobs')) ? readdirSync(join(home, 'blobs/sha256')) : [];
    expect(await verify({}, context)).toMatchObject({ ok: true, problems: [] });
    bench.env['MODELPORT_HOME'] = home;
    const requests = await bench.requestsOf(async () => expect(await bench.run('pull', name)).toMatchObject({ code: 0 }));
    expect(fetched(requests, done)).toEqual([]);
    expect(await verify({ location: name }, context)).toMatchObject({ ok: true, problems: [] });
    rmSync(home, { recursive: true });
    return ended;
  });
});

/** Shards that lie there whole, by their digest, under whatever name. */
function listWhole(place: string): string[] {
  const found = existsSync(place) ? Object.values(readTree(place)) : [];
  const wanted = new Set(Object.values(expected).map(([, content]) => content));
  return found.flatMap(([, content]) => (wanted.has(content) ? [digestOf(Buffer.from(content, 'latin1'))] : []));
}

/** Which of them were fetched all the same. */
function fetched(requests: readonly LogEntry[], digests: readonly string[]): string[] {
  return requests.filter(({ path }) => path.includes('/blobs/') && digests.some((digest) => path.endsWith(digest))).map(({ path }) => path);
}

/** Nothing under a final name that is not whole. */
function expectOnlyWhole(out: string): void {
  if (!existsSync(out)) return;
  for (const [path, content] of Object.entries(readTree(out)))
    if (!path.split('/').some((part) => part.startsWith('.'))) expect(content).toEqual(expected[path]);
}
