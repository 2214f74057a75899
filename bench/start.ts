import { join } from 'node:path';
import { floors, nodeAlone } from './floors.js';
import { modelport } from './ours.js';
import { type Step, runRounds } from './rounds.js';
import { type Bench, type Section, toDistanceTarget, toMemoryTarget } from './section.js';

const rounds = 20;

/** What a person waits for before anything begins. */
export async function runStart(bench: Bench): Promise<Section> {
  bench.say(`starting modelport, ${rounds} times`);
  const home = join(bench.workspace.disk, 'home');
  const steps: readonly Step[] = [
    { name: floors.node, command: nodeAlone },
    { name: 'modelport version', ours: true, command: modelport(home, ['version']), beside: floors.node },
  ];
  const results = await runRounds({ ...bench, say: () => {} }, steps, rounds);
  return {
    title: `Start, ${rounds} runs each`,
    steps,
    results,
    targets: [toDistanceTarget(results, 'modelport version', floors.node, 'ms', 25), toMemoryTarget(steps, results)],
    tables: [],
    notes: [],
  };
}
