import { join } from 'node:path';
import { type Data, type FileBlob, listBlobs } from './data.js';
import { curlPull, curlPush } from './floors.js';
import type { Command } from './measure.js';
import { modelport } from './ours.js';
import { findPeer, modctl } from './peers.js';
import { modctlBuildAndPush, modctlBuildAs, modctlPull, modctlPush, orasPull, orasPushFiles } from './registry-peers.js';
import { withProgram } from './registry-steps.js';
import { type Results, runStep, type Step } from './rounds.js';
import { thenSync } from './script.js';
import { type Bench, findHighest, type Table } from './section.js';
import { type Registry, serve } from './served.js';

export interface Registries {
  readonly ours: Registry;
  readonly theirs: Registry;
  /** For everything. */
  readonly folder: string;
}

/** What is done with one registry between its start in an empty folder and its end. */
interface Visit {
  readonly registry: Registry;
  readonly steps: readonly Step[];
}

interface Place extends Registries {
  readonly model: Data;
  readonly blobs: readonly FileBlob[];
  readonly oras: string | undefined;
  readonly modctl: string | undefined;
}

export interface Transfers {
  readonly steps: readonly Step[];
  readonly results: Results;
  /** Tools. */
  readonly missing: readonly string[];
  readonly table: Table;
}

/** Every client pushes the model to an empty registry and pulls it, to and from one registry right after the other; which one is first changes each round. */
export async function runTransfers(bench: Bench, registries: Registries, model: Data): Promise<Transfers> {
  const programs = { oras: findPeer('oras'), modctl: findPeer('modctl') };
  const place: Place = { ...registries, ...programs, model, blobs: await listBlobs(model, bench.signal) };
  await prepareModctl(bench, place);
  const pairs = listPairs(place);
  const steps = pairs.flat().flatMap((visit) => visit.steps);
  const results = new Map(steps.map(({ name }) => [name, [] as Awaited<ReturnType<typeof runStep>>[]]));
  const memory = new Map<string, (number | undefined)[]>();
  const disk = { folder: place.folder, bytes: model.bytes };
  const { rounds } = bench.options;
  for (let round = 0; round < rounds; round++) {
    for (const { registry, steps: visited } of pairs.flatMap((pair) => (round % 2 === 0 ? pair : pair.toReversed()))) {
      const served = await serve(registry, join(place.folder, 'served'));
      try {
        for (const step of visited) results.get(step.name)?.push(await runStep(bench, step, `${round + 1}/${rounds}`, disk));
        memory.set(registry.name, [...(memory.get(registry.name) ?? []), served.readMemory()]);
      } finally {
        await served.close();
      }
    }
  }
  const missing = (['oras', 'modctl'] as const).filter((name) => programs[name] === undefined);
  return { steps, results, missing, table: toMemoryTable(memory) };
}

/** It pushes what it has built under the very name. */
async function prepareModctl({ meter }: Bench, place: Place): Promise<void> {
  const { modctl: program, folder, model, ours, theirs } = place;
  if (program === undefined) return;
  await meter.measure(modctl(program, join(folder, 'built'), ['modelfile', 'generate', model.dir, '--output', folder]));
  for (const registry of [theirs, ours]) {
    await meter.measure(modctlBuildAs(program, join(folder, 'built'), toName(registry), join(folder, 'Modelfile'), model.dir));
  }
}

const toName = ({ host }: Registry): string => `${host}/bench/model:v1`;

function listPairs(place: Place): (readonly [Visit, Visit])[] {
  const { folder, theirs, ours, model, blobs } = place;
  const pulled = join(folder, 'pulled');
  const home = join(folder, 'pull-home');
  const toUrl = ({ host }: Registry) => `http://${host}/v2/bench/model`;
  const toPair = (client: string, push: (registry: Registry) => Command, pull: (registry: Registry) => Command) => {
    const visit = (registry: Registry): Visit => ({
      registry,
      steps: listBothWays(client, registry, push(registry), pull(registry), [pulled, home]),
    });
    return [visit(theirs), visit(ours)] as const;
  };
  return [
    toPair(
      'curl',
      (registry) => curlPush(toUrl(registry), blobs),
      (registry) => curlPull(toUrl(registry), blobs, pulled),
    ),
    ...withProgram(place.oras, (program) => [
      toPair(
        'oras',
        (registry) => orasPushFiles(program, folder, model, toName(registry)),
        (registry) => thenSync(orasPull(program, folder, toName(registry), pulled), pulled),
      ),
    ]),
    ...withProgram(place.modctl, (program) => [
      toPair(
        'modctl',
        (registry) => modctlPush(program, join(folder, 'built'), toName(registry)),
        (registry) => thenSync(modctlPull(program, home, toName(registry), pulled), pulled),
      ),
      toFolderPair(place, program),
    ]),
  ];
}

/** From a folder to our registry, with nothing known of it. */
function toFolderPair({ ours, folder, model }: Place, program: string): readonly [Visit, Visit] {
  const home = join(folder, 'push-home');
  const theirs = modctlBuildAndPush(program, home, toName(ours), join(folder, 'Modelfile'), model.dir);
  const own = modelport(home, ['push', model.dir, toName(ours), '--quiet']);
  return [
    { registry: ours, steps: [{ name: 'modctl build and push to modelport', command: theirs, removes: [home] }] },
    {
      registry: ours,
      steps: [{ name: 'modelport push to modelport', ours: true, command: own, beside: 'modctl build and push to modelport', removes: [home] }],
    },
  ];
}

function listBothWays(client: string, { name }: Registry, push: Command, pull: Command, removes: readonly string[]): Step[] {
  const isOurs = name === 'modelport';
  const compare = (step: string) => (isOurs ? { ours: true, beside: `${client} ${step} docker-registry` } : {});
  return [
    { name: `${client} push to ${name}`, command: push, ...compare('push to') },
    { name: `${client} pull from ${name}`, command: pull, ...compare('pull from'), removes },
  ];
}

function toMemoryTable(memory: ReadonlyMap<string, readonly (number | undefined)[]>): Table {
  const rows = [...memory].map(([name, peaks]) => [name, ((findHighest(peaks) ?? NaN) / 1e6).toFixed(0)]);
  return { titles: ['server', 'peak memory after a push and a pull, MB'], rows };
}
