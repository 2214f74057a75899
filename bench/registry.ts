import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Data, listBlobs, writeOneShard } from './data.js';
import { type DockerRegistry, startDockerRegistry } from './docker-registry.js';
import { floors } from './floors.js';
import { runKilled } from './killed.js';
import { parseCounters } from './ours.js';
import { findPeer, modctl } from './peers.js';
import { type Place, listRegistrySteps } from './registry-steps.js';
import { withRelay } from './relay.js';
import { type Results, runRounds } from './rounds.js';
import { type Bench, type Section, type Target, findHighest, toDistanceTarget, toMb, toMemoryTarget, toMissing, toRatioTarget } from './section.js';
import { toTraffic } from './traffic.js';

const peerNames = ['oras', 'modctl', 'skopeo', 'crane'] as const;

/** The large model to a registry of this machine and back: what HTTP costs, and what is not sent or fetched twice. */
export async function runRegistry(bench: Bench): Promise<Section> {
  const title = `To a registry and back, on ${bench.workspace.kinds.disk}`;
  const program = findPeer('docker-registry');
  if (program === undefined) {
    return { title, steps: [], results: new Map(), targets: [], tables: [], notes: [toMissing('docker-registry')] };
  }
  const folder = join(bench.workspace.disk, 'registry');
  mkdirSync(folder);
  const registry = await startDockerRegistry(program, join(folder, 'server'));
  try {
    return await measureRegistry(bench, registry, folder, title);
  } finally {
    await registry.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureRegistry(bench: Bench, registry: DockerRegistry, folder: string, title: string): Promise<Section> {
  const place = await preparePlace(bench, registry, folder, await bench.model());
  const { model } = place;
  const steps = listRegistrySteps(place);
  const results = await runRounds(bench, steps, bench.options.rounds, { folder, bytes: model.bytes });
  const one = await writeOneShard(join(folder, 'one'), bench.options.size / 2, bench.signal);
  const killed = await withRelay(registry.port, (relay) => runKilled(bench, place, relay, one));
  return {
    title,
    steps,
    results,
    targets: [...listTargets(results, model), killed.target, toMemoryTarget(steps, results)],
    tables: [toTraffic(steps, results, model.bytes), killed.table],
    notes: [
      `The model of ${toMb(model.bytes)}; killed at half is one file of ${toMb(one.bytes)}.`,
      ...peerNames.filter((name) => place.programs[name] === undefined).map(toMissing),
    ],
  };
}

/** What is computed and written once, outside of every time. */
async function preparePlace({ meter, signal }: Bench, registry: DockerRegistry, folder: string, model: Data): Promise<Place> {
  const programs = Object.fromEntries(peerNames.map((name) => [name, findPeer(name)])) as Place['programs'];
  const place = { host: `127.0.0.1:${registry.port}`, storage: registry.storage, folder, model, blobs: await listBlobs(model, signal), programs };
  if (programs.modctl !== undefined) {
    await meter.measure(modctl(programs.modctl, join(folder, 'modctl'), ['modelfile', 'generate', model.dir, '--output', folder]));
  }
  return place;
}

function listTargets(results: Results, model: Data): Target[] {
  const again = (results.get('modelport push again') ?? []).map((outcome) => parseCounters(outcome)?.read);
  const read = findHighest(again);
  return [
    toRatioTarget(results, 'modelport push', floors.curlPush, 'at most', 1.25),
    toRatioTarget(results, 'modctl build and push', 'modelport push', 'at least', 1),
    toDistanceTarget(results, 'modelport push again', floors.node, 's', 0.3),
    { what: 'bytes read by push again / bytes of the folder', unit: 'times', bound: 'at most', limit: 0, measured: read && read / model.bytes },
    toRatioTarget(results, 'modelport pull', floors.curlPull, 'at most', 1.3),
    toRatioTarget(results, 'oras pull', 'modelport pull', 'at least', 1),
    toRatioTarget(results, 'modctl pull', 'modelport pull', 'at least', 1.8),
  ];
}
