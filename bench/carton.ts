/** Cartons: packing and verifying at the rate of the disk and of SHA-256, and their metadata without their weights. */
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { writeSparseCarton } from './carton-data.js';
import { runCartonMany } from './carton-many.js';
import { runCartonMetadata } from './carton-metadata.js';
import { writeOneShard } from './data.js';
import { floors, hashBesideCopy, hashOnOneCore, onePass } from './floors.js';
import type { Command } from './measure.js';
import { modelport } from './ours.js';
import { type Step, runRounds } from './rounds.js';
import { type Bench, type Section, toMb, toMemoryTarget, toRatioTarget } from './section.js';

const GiB = 1024 ** 3;

/** `options.size` is meant for twice as much, and for five times less than what metadata are read of. */
const packedBytes = GiB;
const metadataFactor = 5;

export async function runCarton(bench: Bench): Promise<Section> {
  const bytes = await runBytes(bench);
  const metadata = await runCartonMetadata(bench, await makeLarge(bench));
  const many = await runCartonMany(bench);
  const parts = [bytes, metadata, many];
  const steps = parts.flatMap((part) => part.steps);
  const results = new Map(parts.flatMap((part) => [...part.results]));
  return {
    title: bytes.title,
    steps,
    results,
    targets: [...parts.flatMap((part) => part.targets), toMemoryTarget(steps, results)],
    tables: parts.flatMap((part) => part.tables),
    notes: [
      ...parts.flatMap((part) => part.notes),
      'Packing by cartonml is not measured: it needs a runner that only builds from sources. It reads what modelport packed.',
    ],
  };
}

export type CartonPart = Omit<Section, 'title'>;

/** For models that nothing has to run. */
export function packCommand(home: string, dir: string, output: string): Command {
  return modelport(home, ['pack', dir, '--format', 'carton', '--runner', 'noop', '--framework-version', '*', '-o', output, '--quiet']);
}

async function runBytes(bench: Bench): Promise<Section> {
  const { disk } = bench.workspace;
  const root = join(disk, 'carton-model');
  const size = Math.min(packedBytes, bench.options.size);
  bench.say(`writing a model of ${toMb(size)}`);
  const { dir, files, bytes } = await writeOneShard(root, size, bench.signal);
  const home = join(disk, 'home');
  const packed = join(disk, 'packed.carton');
  const kept = join(disk, 'kept.carton');
  const copy = join(disk, 'copy');
  await bench.meter.measure(packCommand(home, dir, kept));
  const steps: readonly Step[] = [
    { name: floors.onePass, command: onePass(files, copy), removes: [copy] },
    { name: 'modelport pack a carton', ours: true, command: packCommand(home, dir, packed), beside: floors.onePass, removes: [packed] },
    { name: floors.hashBesideCopy, command: hashBesideCopy(files, dir, copy), removes: [copy] },
    { name: floors.oneCore, command: hashOnOneCore([kept]) },
    { name: 'modelport verify a carton', ours: true, command: modelport(home, ['verify', kept, '--quiet']), beside: floors.oneCore },
  ];
  const results = await runRounds(bench, steps, bench.options.rounds, { folder: disk, bytes });
  for (const path of [root, kept, home]) rmSync(path, { recursive: true, force: true });
  return {
    title: `Cartons: one file of ${toMb(bytes)}, on ${bench.workspace.kinds.disk}; metadata; many files`,
    steps,
    results,
    targets: [
      toRatioTarget(results, 'modelport pack a carton', floors.onePass, 'at most', 1.15),
      toRatioTarget(results, floors.oneCore, 'modelport verify a carton', 'at least', 0.9),
    ],
    tables: [],
    notes: [],
  };
}

export interface LargeCarton {
  readonly file: string;
  readonly bytes: number;
}

/** That of examples/cartons/python with weights of zeros, so that it needs no room on the disk. */
async function makeLarge({ workspace: { disk }, meter, options, signal, say }: Bench): Promise<LargeCarton> {
  const home = join(disk, 'home');
  const [small, unpacked, file] = [join(disk, 'small.carton'), join(disk, 'unpacked'), join(disk, 'large.carton')];
  const weights = options.size * metadataFactor;
  say(`writing a carton of ${toMb(weights)} that takes no space`);
  await meter.measure(modelport(home, ['pack', resolve('examples/cartons/python'), '--format', 'carton', '-o', small, '--quiet']));
  await meter.measure(modelport(home, ['unpack', small, '-o', unpacked, '--quiet']));
  const bytes = await writeSparseCarton(file, unpacked, weights, signal);
  for (const path of [small, unpacked]) rmSync(path, { recursive: true });
  return { file, bytes };
}
