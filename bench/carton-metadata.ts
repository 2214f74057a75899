import { existsSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { CartonPart, LargeCarton } from './carton.js';
import { serveFile, type ServedFile } from './carton-served.js';
import { floors, nodeAlone } from './floors.js';
import type { Command } from './measure.js';
import { modelport, parseCounters } from './ours.js';
import { type Step, runRounds } from './rounds.js';
import { type Bench, findHighest, type Target, toDistanceTarget, toMb, toMissing } from './section.js';

const rounds = 10;
const MiB = 1024 * 1024;
const local = 'modelport inspect, local';
const remote = 'modelport inspect, remote';

/** What a carton says of itself, with weights that nobody would read for it. */
export async function runCartonMetadata(bench: Bench, large: LargeCarton): Promise<CartonPart> {
  const served = await serveFile(large.file, 'large.carton');
  try {
    bench.say(`metadata of a carton of ${toMb(large.bytes)}, ${rounds} times`);
    const home = join(bench.workspace.disk, 'home');
    const peer = findPython();
    const steps = [...listOurs(home, large.file, served.url), ...(peer === undefined ? [] : listPeers(peer, large.file, served.url))];
    const results = await runRounds({ ...bench, say: () => {} }, steps, rounds);
    const read = findHighest((results.get(local) ?? []).map((outcome) => parseCounters(outcome)?.read));
    const traffic = await countTraffic(bench, steps, served);
    return {
      steps,
      results,
      targets: [
        toDistanceTarget(results, local, floors.node, 'ms', 100),
        { what: `read by ${local}`, unit: 'MiB', bound: 'at most', limit: 2, measured: read === undefined ? undefined : read / MiB },
        ...listTrafficTargets(traffic.get(remote)),
      ],
      tables: [
        {
          titles: [`metadata of ${toMb(large.bytes)} over HTTP`, 'requests', 'bytes'],
          rows: [...traffic].map(([name, { requests, bytes }]) => [name === remote ? `**${name}**` : name, String(requests), String(bytes)]),
        },
      ],
      notes: peer === undefined ? [toMissing('cartonml')] : [],
    };
  } finally {
    await served.close();
    rmSync(large.file);
  }
}

function listOurs(home: string, file: string, url: string): readonly Step[] {
  const inspect = (location: string) => modelport(home, ['inspect', location, '--json', '--verbose']);
  return [
    { name: floors.node, command: nodeAlone },
    { name: local, ours: true, command: inspect(file), beside: floors.node },
    { name: remote, ours: true, command: inspect(url), beside: floors.node },
  ];
}

/** Leaves without cleaning up, as the library may crash while it does. */
const readInfo = `
import asyncio, os, sys, cartonml
async def main():
    print((await cartonml.get_model_info(sys.argv[1])).model_name, flush=True)
    os._exit(0)
asyncio.run(main())
`;

function listPeers(python: string, file: string, url: string): readonly Step[] {
  const info = (location: string): Command => ({ program: python, args: ['-c', readInfo, location] });
  const alone = 'python, import cartonml';
  return [
    { name: alone, command: { program: python, args: ['-c', 'import os, cartonml; os._exit(0)'] } },
    { name: 'cartonml get_model_info, local', command: info(file), beside: alone },
    { name: 'cartonml get_model_info, remote', command: info(url), beside: alone },
  ];
}

/** What .ci/install-peers brought. */
function findPython(): string | undefined {
  const python = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'modelport-interop/python/bin/python');
  return existsSync(python) ? python : undefined;
}

type Traffic = ReturnType<ServedFile['takeCounts']>;

/** Each remote step once more, with nothing beside it. */
async function countTraffic({ meter }: Bench, steps: readonly Step[], served: ServedFile): Promise<ReadonlyMap<string, Traffic>> {
  const counts = new Map<string, Traffic>();
  for (const { name, command } of steps.filter((step) => step.name.endsWith('remote'))) {
    served.takeCounts();
    const { kind } = await meter.measure(command);
    if (kind === 'done') counts.set(name, served.takeCounts());
  }
  return counts;
}

function listTrafficTargets(traffic: Traffic | undefined): readonly Target[] {
  return [
    { what: `requests of ${remote}`, unit: 'times', bound: 'at most', limit: 3, measured: traffic?.requests },
    { what: `fetched by ${remote}`, unit: 'MiB', bound: 'at most', limit: 2, measured: traffic && traffic.bytes / MiB },
  ];
}
