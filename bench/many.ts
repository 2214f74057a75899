import { join } from 'node:path';
import { type Data, writeManyFiles } from './data.js';
import { floors, nodeAlone, tarThenHash, untar } from './floors.js';
import { modelport, packageName } from './ours.js';
import { findPeer, modctlBuild, orasPush, writeModelfile } from './peers.js';
import { type Step, runRounds } from './rounds.js';
import { type Bench, type Section, toMb, toMemoryTarget, toMissing, toRatioTarget } from './section.js';

/** Many small files in memory: what each file costs, with no disk to hide it. */
export async function runMany(bench: Bench): Promise<Section> {
  const { memory, kinds } = bench.workspace;
  const { files: count, rounds } = bench.options;
  bench.say(`writing ${count} small files`);
  const many = await writeManyFiles(join(memory, 'many'), count, bench.signal);
  const { peers, missing } = listPeerSteps(many, memory);
  const steps = [...listOwnSteps(many, memory), ...peers];
  const results = await runRounds(bench, steps, rounds);
  return {
    title: `${count} small files, ${toMb(many.bytes)}, on ${kinds.memory}`,
    steps,
    results,
    targets: [
      toRatioTarget(results, 'modelport pack', floors.tar, 'at most', 1.5),
      toRatioTarget(results, 'modelport unpack', floors.untar, 'at most', 1.5),
      ...peers.map(({ name }) => toRatioTarget(results, name, 'modelport pack', 'at least', 1)),
      toMemoryTarget(steps, results),
    ],
    tables: [],
    notes: [...missing.map(toMissing), await countDescriptors(bench, many)],
  };
}

function listOwnSteps({ dir }: Data, memory: string): Step[] {
  const tar = join(memory, 'many.tar');
  const untarred = join(memory, 'untarred');
  const home = join(memory, 'home');
  const unpacked = join(memory, 'unpacked');
  const ours = (verb: string, args: readonly string[]) => ({ name: `modelport ${verb}`, ours: true, command: modelport(home, args) });
  const pack = ['pack', dir, '-t', packageName, '--quiet'];
  return [
    { name: floors.tar, command: tarThenHash(dir, tar) },
    { ...ours('pack', pack), beside: floors.tar },
    { name: floors.untar, command: untar(tar, untarred), removes: [tar, untarred] },
    { ...ours('unpack', ['unpack', packageName, '-o', unpacked]), beside: floors.untar, removes: [unpacked] },
    { name: floors.node, command: nodeAlone },
    { ...ours('pack again', pack), beside: floors.node, removes: [home] },
  ];
}

/** Once only: at 20,000 files they take from seconds to most of a minute. */
function listPeerSteps(many: Data, memory: string): { readonly peers: readonly Step[]; readonly missing: readonly string[] } {
  const layout = join(memory, 'layout');
  const home = join(memory, 'modctl');
  const modelfile = join(memory, 'Modelfile');
  writeModelfile(modelfile, many);
  const all = [
    { tool: 'oras', verb: 'push to a layout', toCommand: (program: string) => orasPush(program, layout, many.dir), removes: [layout] },
    { tool: 'modctl', verb: 'build', toCommand: (program: string) => modctlBuild(program, home, modelfile, many.dir), removes: [home] },
  ].map((peer) => ({ ...peer, program: findPeer(peer.tool) }));
  const peers = all.flatMap(({ tool, verb, toCommand, removes, program }) =>
    program === undefined ? [] : [{ name: `${tool} ${verb}`, command: toCommand(program), beside: floors.tar, once: true, removes }],
  );
  return { peers, missing: all.filter(({ program }) => program === undefined).map(({ tool }) => tool) };
}

async function countDescriptors({ meter, workspace }: Bench, { dir }: Data): Promise<string> {
  const home = join(workspace.memory, 'home');
  const packed = await meter.countDescriptors(modelport(home, ['pack', dir, '-t', packageName, '--quiet']));
  const unpacked = await meter.countDescriptors(modelport(home, ['unpack', packageName, '-o', join(workspace.memory, 'unpacked')]));
  if (packed === undefined || unpacked === undefined) return 'File descriptors could not be counted: this system has no /proc.';
  return `Most file descriptors open at once, in runs of their own: pack ${packed}, unpack ${unpacked}.`;
}
