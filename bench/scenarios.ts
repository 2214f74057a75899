/** What is measured: the steps of each section, and the targets that they are held against. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Data, writeManyFiles, writeModel } from './data.js';
import { copyThenSync, hashBesideCopy, hashOnOneCore, hashOnTwoCores, nodeAlone, tarThenHash, untar } from './floors.js';
import { modelport, parseCounters, parsePackageBytes } from './ours.js';
import { findPeer, modctl, modctlBuild, orasPush, writeModelfile } from './peers.js';
import { type Results, type Runner, type Step, compareWalls, listDone, runRounds, toDifference, toRatio } from './rounds.js';
import type { Options, SectionName } from './options.js';
import type { Workspace } from './workspace.js';

export interface Bench extends Runner {
  readonly options: Options;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
}

/** `measured` is undefined when it could not be measured. */
export interface Target {
  readonly what: string;
  readonly unit: 'x' | 's' | 'ms' | 'MB';
  readonly bound: 'at most' | 'at least';
  readonly limit: number;
  readonly measured: number | undefined;
}

export interface Section {
  readonly title: string;
  readonly steps: readonly Step[];
  readonly results: Results;
  readonly targets: readonly Target[];
  readonly notes: readonly string[];
}

export const scenarios: Readonly<Record<SectionName, (bench: Bench) => Promise<Section>>> = { model: runModel, many: runMany, start: runStart };

const name = 'bench/model:v1';
const modctlMissing = 'modctl was not found, so it was not measured; `.ci/install-peers` builds it.';

const floors = {
  oneCore: 'openssl dgst, one core',
  twoCores: 'openssl dgst, two cores',
  copy: 'cp -r, then sync',
  hashBesideCopy: 'hash beside cp, then sync',
  tar: 'tar c, then openssl dgst',
  untar: 'tar x',
  node: 'node -e 0',
} as const;

async function runModel(bench: Bench): Promise<Section> {
  const { disk } = bench.workspace;
  bench.say(`writing a model of ${toMb(bench.options.size)}`);
  const model = await writeModel(join(disk, 'model'), bench.options.size, bench.signal);
  const modctlSteps = await prepareModctl(bench, model);
  const steps = [...listModelFloors(model, join(disk, 'copy')), ...modctlSteps, ...listModelSteps(model, disk)];
  const results = await runRounds(bench, steps, bench.options.rounds, disk);
  return {
    title: `A model of ${model.files.length} files, ${toMb(model.bytes)}, on ${bench.workspace.kinds.disk}`,
    steps,
    results,
    targets: [
      {
        what: `pack / ${floors.hashBesideCopy}`,
        unit: 'x',
        bound: 'at most',
        limit: 1.6,
        measured: compareWalls(results, 'modelport pack', floors.hashBesideCopy, toRatio),
      },
      {
        what: 'modctl build / pack',
        unit: 'x',
        bound: 'at least',
        limit: 1.5,
        measured: compareWalls(results, 'modctl build', 'modelport pack', toRatio),
      },
      {
        what: `pack again - ${floors.node}`,
        unit: 's',
        bound: 'at most',
        limit: 0.3,
        measured: compareWalls(results, 'modelport pack again', floors.node, toDifference),
      },
      ...listCounterTargets(results, model),
      toMemoryTarget(steps, results),
    ],
    notes: modctlSteps.length === 0 ? [modctlMissing] : [],
  };
}

function listModelFloors({ dir, files }: Data, copy: string): Step[] {
  return [
    { name: floors.oneCore, command: hashOnOneCore(files) },
    { name: floors.twoCores, command: hashOnTwoCores(files) },
    { name: floors.copy, command: copyThenSync(dir, copy), removes: [copy] },
    { name: floors.hashBesideCopy, command: hashBesideCopy(files, dir, copy), removes: [copy] },
  ];
}

async function prepareModctl(bench: Bench, { dir }: Data): Promise<Step[]> {
  const program = findPeer('modctl');
  if (program === undefined) return [];
  const home = join(bench.workspace.disk, 'modctl');
  const kept = join(bench.workspace.disk, 'modelfile');
  mkdirSync(kept);
  await bench.meter.measure(modctl(program, home, ['modelfile', 'generate', dir, '--output', kept]));
  const command = modctlBuild(program, home, join(kept, 'Modelfile'), dir);
  return [
    { name: 'modctl build', command, beside: floors.hashBesideCopy },
    { name: 'modctl build again', command, beside: floors.hashBesideCopy, removes: [home] },
  ];
}

function listModelSteps({ dir }: Data, disk: string): Step[] {
  const home = join(disk, 'home');
  const unpacked = join(disk, 'unpacked');
  const archive = join(disk, 'archive.tar');
  const pack = modelport(home, ['pack', dir, '-t', name, '--json', '--verbose']);
  return [
    { name: 'modelport pack', ours: true, command: pack, beside: floors.hashBesideCopy },
    { name: floors.node, command: nodeAlone },
    { name: 'modelport pack again', ours: true, command: pack, beside: floors.node },
    { name: 'modelport verify', ours: true, command: modelport(home, ['verify', name]), beside: floors.twoCores },
    {
      name: 'modelport unpack',
      ours: true,
      command: modelport(home, ['unpack', name, '-o', unpacked]),
      beside: floors.hashBesideCopy,
      removes: [unpacked],
    },
    {
      name: 'modelport copy to an archive',
      ours: true,
      command: modelport(home, ['copy', name, archive]),
      beside: floors.copy,
      removes: [archive, home],
    },
  ];
}

/** Bytes of the folder are read; config and manifest are hashed and written on top, so these are held against the whole package. */
function listCounterTargets(results: Results, model: Data): Target[] {
  const packs = results.get('modelport pack') ?? [];
  const highest = (values: readonly (number | undefined)[]) => {
    const known = values.filter((value) => value !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  };
  const perByte = (counter: 'hashed' | 'written') => highest(packs.map((pack) => divide(parseCounters(pack)?.[counter], parsePackageBytes(pack))));
  const target = (what: string, measured: number | undefined): Target => ({ what, unit: 'x', bound: 'at most', limit: 1, measured });
  return [
    target('bytes read / bytes of the folder', highest(packs.map((pack) => divide(parseCounters(pack)?.read, model.bytes)))),
    target('bytes hashed / bytes of the package', perByte('hashed')),
    target('bytes written / bytes of the package', perByte('written')),
  ];
}

function divide(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}

async function runMany(bench: Bench): Promise<Section> {
  const { memory, kinds } = bench.workspace;
  const { files: count, rounds } = bench.options;
  bench.say(`writing ${count} small files`);
  const many = await writeManyFiles(join(memory, 'many'), count, bench.signal);
  const { steps: peerSteps, notes } = listManyPeers(many, memory);
  const steps = [...listManySteps(many, memory), ...peerSteps];
  const results = await runRounds(bench, steps, rounds);
  const ratio = (one: string, other: string) => compareWalls(results, one, other, toRatio);
  return {
    title: `${count} small files, ${toMb(many.bytes)}, on ${kinds.memory}`,
    steps,
    results,
    targets: [
      { what: `pack / ${floors.tar}`, unit: 'x', bound: 'at most', limit: 1.5, measured: ratio('modelport pack', floors.tar) },
      { what: `unpack / ${floors.untar}`, unit: 'x', bound: 'at most', limit: 1.5, measured: ratio('modelport unpack', floors.untar) },
      ...peerSteps.map((step): Target => ({
        what: `${step.name} / pack`,
        unit: 'x',
        bound: 'at least',
        limit: 1,
        measured: ratio(step.name, 'modelport pack'),
      })),
      toMemoryTarget(steps, results),
    ],
    notes: [...notes, await countDescriptors(bench, many)],
  };
}

function listManySteps({ dir }: Data, memory: string): Step[] {
  const tar = join(memory, 'many.tar');
  const untarred = join(memory, 'untarred');
  const home = join(memory, 'home');
  const unpacked = join(memory, 'unpacked');
  const pack = modelport(home, ['pack', dir, '-t', name, '--quiet']);
  return [
    { name: floors.tar, command: tarThenHash(dir, tar) },
    { name: 'modelport pack', ours: true, command: pack, beside: floors.tar },
    { name: floors.untar, command: untar(tar, untarred), removes: [tar, untarred] },
    { name: 'modelport unpack', ours: true, command: modelport(home, ['unpack', name, '-o', unpacked]), beside: floors.untar, removes: [unpacked] },
    { name: floors.node, command: nodeAlone },
    { name: 'modelport pack again', ours: true, command: pack, beside: floors.node, removes: [home] },
  ];
}

function listManyPeers(many: Data, memory: string): { readonly steps: Step[]; readonly notes: readonly string[] } {
  const modctlProgram = findPeer('modctl');
  const orasProgram = findPeer('oras');
  const steps: Step[] = [];
  if (orasProgram !== undefined) {
    const layout = join(memory, 'layout');
    steps.push({
      name: 'oras push to a layout',
      command: orasPush(orasProgram, layout, many.dir),
      beside: floors.tar,
      once: true,
      removes: [layout],
    });
  }
  if (modctlProgram !== undefined) {
    const home = join(memory, 'modctl');
    const modelfile = join(memory, 'Modelfile');
    writeModelfile(modelfile, many);
    steps.push({
      name: 'modctl build',
      command: modctlBuild(modctlProgram, home, modelfile, many.dir),
      beside: floors.tar,
      once: true,
      removes: [home],
    });
  }
  const notes = [...(orasProgram === undefined ? ['oras was not found, so it was not measured; `.ci/install-peers` builds it.'] : [])];
  return { steps, notes: modctlProgram === undefined ? [...notes, modctlMissing] : notes };
}

async function countDescriptors({ meter, workspace }: Bench, { dir }: Data): Promise<string> {
  const home = join(workspace.memory, 'home');
  const packed = await meter.countDescriptors(modelport(home, ['pack', dir, '-t', name, '--quiet']));
  const unpacked = await meter.countDescriptors(modelport(home, ['unpack', name, '-o', join(workspace.memory, 'unpacked')]));
  if (packed === undefined || unpacked === undefined) return 'File descriptors could not be counted: this system has no /proc.';
  return `Most file descriptors open at once, in runs of their own: pack ${packed}, unpack ${unpacked}.`;
}

async function runStart(bench: Bench): Promise<Section> {
  const rounds = 20;
  const ours = 'modelport version';
  const steps: Step[] = [
    { name: floors.node, command: nodeAlone },
    { name: ours, ours: true, command: modelport(join(bench.workspace.disk, 'home'), ['version']), beside: floors.node },
  ];
  const results = await runRounds({ ...bench, say: () => {} }, steps, rounds);
  const seconds = compareWalls(results, ours, floors.node, toDifference);
  return {
    title: `Start, ${rounds} runs each`,
    steps,
    results,
    targets: [
      {
        what: `modelport version - ${floors.node}`,
        unit: 'ms',
        bound: 'at most',
        limit: 25,
        measured: seconds === undefined ? undefined : seconds * 1000,
      },
      toMemoryTarget(steps, results),
    ],
    notes: [],
  };
}

function toMemoryTarget(steps: readonly Step[], results: Results): Target {
  const peaks = steps.filter(({ ours }) => ours).flatMap((step) => listDone(results, step.name).flatMap(({ rss }) => rss ?? []));
  const measured = peaks.length === 0 ? undefined : Math.max(...peaks) / 1e6;
  return { what: 'peak resident memory of modelport', unit: 'MB', bound: 'at most', limit: 150, measured };
}

function toMb(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
