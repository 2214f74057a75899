import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Data } from './data.js';
import { copyThenSync, floors, hashBesideCopy, hashOnOneCore, hashOnTwoCores, nodeAlone } from './floors.js';
import { modelport, packageName, parseCounters, parsePackageBytes } from './ours.js';
import { findPeer, modctl, modctlBuild } from './peers.js';
import { type Results, type Step, runRounds } from './rounds.js';
import { type Bench, type Section, type Target, findHighest, toDistanceTarget, toMb, toMemoryTarget, toMissing, toRatioTarget } from './section.js';

/** One large model on the disk: what hashing and copying cost, and how often each byte is touched. */
export async function runModel(bench: Bench): Promise<Section> {
  const { disk } = bench.workspace;
  const model = await bench.model();
  const peers = await listPeerSteps(bench, model);
  const [pack, ...others] = listOurSteps(model, disk);
  // What writes as much as a floor stands right behind it, so that both find memory and disk alike.
  const steps = [...listFloors(model, join(disk, 'copy')), pack, ...peers, ...others];
  const results = await runRounds(bench, steps, bench.options.rounds, { folder: disk, bytes: model.bytes });
  return {
    title: `A model of ${model.files.length} files, ${toMb(model.bytes)}, on ${bench.workspace.kinds.disk}`,
    steps,
    results,
    targets: [
      toRatioTarget(results, 'modelport pack', floors.hashBesideCopy, 'at most', 1.6),
      toRatioTarget(results, 'modctl build', 'modelport pack', 'at least', 1.5),
      toDistanceTarget(results, 'modelport pack again', floors.node, 's', 0.3),
      ...listCounterTargets(results, model),
      toMemoryTarget(steps, results),
    ],
    tables: [],
    notes: peers.length === 0 ? [toMissing('modctl')] : [],
  };
}

function listFloors({ dir, files }: Data, copy: string): Step[] {
  return [
    { name: floors.oneCore, command: hashOnOneCore(files) },
    { name: floors.twoCores, command: hashOnTwoCores(files) },
    { name: floors.copy, command: copyThenSync(dir, copy), removes: [copy] },
    { name: floors.hashBesideCopy, command: hashBesideCopy(files, dir, copy), removes: [copy] },
  ];
}

/** modctl builds from a Modelfile, which it writes itself, outside the model and outside the measured time. */
async function listPeerSteps(bench: Bench, { dir }: Data): Promise<Step[]> {
  const program = findPeer('modctl');
  if (program === undefined) return [];
  const home = join(bench.workspace.disk, 'modctl');
  const written = join(bench.workspace.disk, 'modelfile');
  mkdirSync(written);
  await bench.meter.measure(modctl(program, home, ['modelfile', 'generate', dir, '--output', written]));
  const command = modctlBuild(program, home, join(written, 'Modelfile'), dir);
  return [
    { name: 'modctl build', command, beside: floors.hashBesideCopy },
    { name: 'modctl build again', command, beside: floors.hashBesideCopy, removes: [home] },
  ];
}

function listOurSteps({ dir }: Data, disk: string): [Step, ...Step[]] {
  const home = join(disk, 'home');
  const unpacked = join(disk, 'unpacked');
  const archive = join(disk, 'archive.tar');
  const ours = (verb: string, args: readonly string[]) => ({ name: `modelport ${verb}`, ours: true, command: modelport(home, args) });
  const pack = ['pack', dir, '-t', packageName, '--json', '--verbose'];
  return [
    { ...ours('pack', pack), beside: floors.hashBesideCopy, removes: [home] },
    { name: floors.node, command: nodeAlone },
    { ...ours('pack again', pack), beside: floors.node, prepared: modelport(home, pack) },
    { ...ours('verify', ['verify', packageName]), beside: floors.twoCores },
    { ...ours('unpack', ['unpack', packageName, '-o', unpacked]), beside: floors.hashBesideCopy, removes: [unpacked] },
    { ...ours('copy to an archive', ['copy', packageName, archive]), beside: floors.copy, removes: [archive, home] },
  ];
}

/** The folder is read; config and manifest are hashed and written on top, so these are held against the whole package. */
function listCounterTargets(results: Results, model: Data): Target[] {
  const packs = (results.get('modelport pack') ?? []).map((outcome) => ({ counters: parseCounters(outcome), bytes: parsePackageBytes(outcome) }));
  const toTarget = (what: string, ratios: readonly (number | undefined)[]): Target => {
    return { what: `bytes ${what}`, unit: 'times', bound: 'at most', limit: 1, measured: findHighest(ratios) };
  };
  return [
    toTarget(
      'read / bytes of the folder',
      packs.map(({ counters }) => divide(counters?.read, model.bytes)),
    ),
    toTarget(
      'hashed / bytes of the package',
      packs.map(({ counters, bytes }) => divide(counters?.hashed, bytes)),
    ),
    toTarget(
      'written / bytes of the package',
      packs.map(({ counters, bytes }) => divide(counters?.written, bytes)),
    ),
  ];
}

function divide(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}
