import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { measureCrowd } from './embedded-crowd.js';
import { measureGets } from './embedded-gets.js';
import { measureStarts } from './embedded-starts.js';
import { runTransfers } from './embedded-transfers.js';
import { findPeer } from './peers.js';
import type { Results } from './rounds.js';
import { type Bench, type Section, type Target, toMb, toMissing, toRatioTarget } from './section.js';
import { findFreeHost, toDocker, toEmbedded } from './served.js';

/** Our registry beside docker-registry, with the same clients: never both at once, each in a fresh folder. */
export async function runEmbedded(bench: Bench): Promise<Section> {
  const title = `The embedded registry beside docker-registry, on ${bench.workspace.kinds.disk}`;
  const program = findPeer('docker-registry');
  if (program === undefined) {
    return { title, steps: [], results: new Map(), targets: [], tables: [], notes: [toMissing('docker-registry')] };
  }
  const folder = join(bench.workspace.disk, 'embedded');
  mkdirSync(folder);
  try {
    const registries = { ours: toEmbedded(await findFreeHost()), theirs: toDocker(program, await findFreeHost()), folder };
    const model = await bench.model();
    const { steps, results, missing, table } = await runTransfers(bench, registries, model);
    const crowd = await measureCrowd(bench, registries);
    const gets = await measureGets(bench, registries);
    const starts = await measureStarts(bench, registries);
    return {
      title,
      steps: [...steps, ...crowd.steps],
      results: new Map([...results, ...crowd.results]),
      targets: [...listTransferTargets(results), ...gets.targets, ...crowd.targets, ...starts.targets],
      tables: [table, gets.table, starts.table],
      notes: [`The model of ${toMb(model.bytes)}. Memory in the first table is that of the client.`, ...missing.map(toMissing)],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function listTransferTargets(results: Results): Target[] {
  const push = (client: string) => toRatioTarget(results, `${client} push to docker-registry`, `${client} push to modelport`, 'at least', 2);
  const pull = (client: string) => toRatioTarget(results, `${client} pull from docker-registry`, `${client} pull from modelport`, 'at least', 0.9);
  const clients = ['curl', 'oras', 'modctl'].filter((client) => results.has(`${client} push to modelport`));
  return [
    ...clients.map(push),
    ...clients.map(pull),
    toRatioTarget(results, 'modctl build and push to modelport', 'modelport push to modelport', 'at least', 1.8),
  ];
}
