import { join } from 'node:path';
import type { Data, FileBlob } from './data.js';
import { curlPull, curlPush, floors, nodeAlone } from './floors.js';
import type { Command } from './measure.js';
import { modelport } from './ours.js';
import { cranePull, modctlBuildAndPush, modctlPull, modctlPush, orasCopy, orasPull, orasPushFiles, skopeoCopy } from './registry-peers.js';
import type { Step } from './rounds.js';
import { thenSync } from './script.js';

/** Where the steps of the section find each other. */
export interface Place {
  /** HOST:PORT of the registry. */
  readonly host: string;
  /** Removed, the registry is empty. */
  readonly storage: string;
  /** For everything that steps write; holds `Modelfile` where modctl is there. */
  readonly folder: string;
  readonly model: Data;
  readonly blobs: readonly FileBlob[];
  /** Undefined where it was not found. */
  readonly programs: Readonly<Record<'oras' | 'modctl' | 'skopeo' | 'crane', string | undefined>>;
}

/** Each push finds an empty registry; what is pulled is what modelport pushed last, which the others can read. */
export function listRegistrySteps(place: Place): Step[] {
  const { folder, storage } = place;
  const floor = { name: floors.curlPush, command: curlPush(toUrl(place, 'floor'), place.blobs), removes: [storage] };
  const steps = [...listPeerPushes(place), floor, ...listOurPushes(place), ...listPulls(place), ...listCopies(place)];
  const last = steps.pop();
  return last === undefined ? [] : [...steps, { ...last, removes: [...(last.removes ?? []), storage, join(folder, 'home')] }];
}

const toName = ({ host }: Place, repository: string): string => `${host}/bench/${repository}:v1`;

const toUrl = ({ host }: Place, repository: string): string => `http://${host}/v2/bench/${repository}`;

function listPeerPushes(place: Place): Step[] {
  const { folder, storage, model, programs } = place;
  const home = join(folder, 'modctl');
  return [
    ...withProgram(programs.modctl, (program) => [
      {
        name: 'modctl build and push',
        command: modctlBuildAndPush(program, home, toName(place, 'modctl'), join(folder, 'Modelfile'), model.dir),
        beside: floors.curlPush,
      },
      { name: 'modctl push again', command: modctlPush(program, home, toName(place, 'modctl')), beside: floors.node, removes: [home, storage] },
    ]),
    ...withProgram(programs.oras, (program) => {
      const command = orasPushFiles(program, folder, model, toName(place, 'oras'));
      return [
        { name: 'oras push', command, beside: floors.curlPush },
        { name: 'oras push again', command, beside: floors.node, removes: [storage] },
      ];
    }),
  ];
}

/** Nothing is known of the files before the first, and the registry keeps what it sent. */
function listOurPushes(place: Place): Step[] {
  const command = ours(place, ['push', place.model.dir, toName(place, 'model')]);
  return [
    { name: 'modelport push', ours: true, command, beside: floors.curlPush },
    { name: floors.node, command: nodeAlone },
    { name: 'modelport push again', ours: true, command, beside: floors.node },
  ];
}

/** modelport syncs what it wrote, the others do not, so it is done for them. */
function listPulls(place: Place): Step[] {
  const { folder, programs } = place;
  const name = toName(place, 'model');
  const pulled = join(folder, 'pulled');
  const home = join(folder, 'modctl');
  const rest = { beside: floors.curlPull, removes: [pulled] };
  return [
    { name: floors.curlPull, command: curlPull(toUrl(place, 'model'), place.blobs, pulled), removes: [pulled] },
    { name: 'modelport pull', ours: true, command: ours(place, ['pull', name, '-o', pulled]), ...rest },
    ...withProgram(programs.oras, (program) => [{ name: 'oras pull', command: thenSync(orasPull(program, folder, name, pulled), pulled), ...rest }]),
    ...withProgram(programs.modctl, (program) => [
      { name: 'modctl pull', command: thenSync(modctlPull(program, home, name, pulled), pulled), ...rest, removes: [pulled, home] },
    ]),
  ];
}

function listCopies(place: Place): Step[] {
  const { folder, programs } = place;
  const name = toName(place, 'model');
  const layout = join(folder, 'layout');
  const toStep = (tool: string, command: Command) => ({
    name: `${tool} to a layout`,
    command: thenSync(command, layout),
    beside: floors.curlPull,
    removes: [layout],
  });
  return [
    ...withProgram(programs.oras, (program) => [toStep('oras cp', orasCopy(program, folder, name, layout))]),
    ...withProgram(programs.skopeo, (program) => [toStep('skopeo copy', skopeoCopy(program, folder, name, layout))]),
    ...withProgram(programs.crane, (program) => [toStep('crane pull', cranePull(program, folder, name, layout))]),
    {
      name: 'modelport copy to a layout',
      ours: true,
      command: ours(place, ['copy', '--remote', name, `oci:${layout}:v1`]),
      beside: floors.curlPull,
      removes: [layout],
    },
  ];
}

function ours({ folder }: Place, args: readonly string[]): Command {
  return modelport(join(folder, 'home'), [...args, '--json', '--verbose']);
}

export function withProgram<T>(program: string | undefined, list: (program: string) => readonly T[]): readonly T[] {
  return program === undefined ? [] : list(program);
}
