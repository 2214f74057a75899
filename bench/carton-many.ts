import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type CartonPart, packCommand } from './carton.js';
import { writeManyFiles } from './data.js';
import { findPeer } from './peers.js';
import { type Step, runRounds } from './rounds.js';
import { type Bench, toMissing, toRatioTarget } from './section.js';

const floor = 'zip -0, many files';
const ours = 'modelport pack a carton, many files';

/** What each member costs, with no disk to hide it. zip hashes nothing but the CRC-32. */
export async function runCartonMany(bench: Bench): Promise<CartonPart> {
  const { memory } = bench.workspace;
  const zip = findPeer('zip');
  bench.say(`writing ${bench.options.files} small files`);
  const { dir } = await writeManyFiles(join(memory, 'carton-many'), bench.options.files, bench.signal);
  const [zipped, packed] = [join(memory, 'many.zip'), join(memory, 'many.carton')];
  const peer: readonly Step[] =
    zip === undefined ? [] : [{ name: floor, command: { program: zip, args: ['-0', '-q', '-r', zipped, '.'], cwd: dir }, removes: [zipped] }];
  const pack: Step = { name: ours, ours: true, command: packCommand(join(memory, 'home'), dir, packed), beside: floor, removes: [packed] };
  const steps = [...peer, pack];
  const results = await runRounds(bench, steps, bench.options.rounds);
  for (const path of [dir, join(memory, 'home')]) rmSync(path, { recursive: true, force: true });
  return {
    steps,
    results,
    targets: [toRatioTarget(results, ours, floor, 'at most', 1.5)],
    tables: [],
    notes: zip === undefined ? [toMissing('zip')] : [],
  };
}
