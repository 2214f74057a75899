import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Data } from './data.js';
import type { Command, Outcome } from './measure.js';
import { modelport, parseCounters } from './ours.js';
import { writeModelfile } from './peers.js';
import { modctlBuildAs, modctlPull, modctlPush, orasPull, orasPushFiles } from './registry-peers.js';
import { type Place, withProgram } from './registry-steps.js';
import type { Relay } from './relay.js';
import type { Bench, Table, Target } from './section.js';

interface Transfer {
  readonly name: string;
  readonly ours?: boolean;
  readonly way: 'sent' | 'received';
  readonly command: Command;
  /** Removed before the first attempt. */
  readonly fresh: readonly string[];
  /** Run before the first attempt. */
  readonly prepared?: Command;
}

interface Attempts extends Transfer {
  /** Bytes over the line until the kill; undefined when it had ended before. */
  readonly before: number | undefined;
  readonly again: number;
  readonly outcome: Outcome;
}

/** SIGKILL when half of one large file has gone over the line, then the same command again. Once each: bytes do not depend on the hour. */
export async function runKilled(bench: Bench, place: Place, relay: Relay, one: Data): Promise<{ readonly table: Table; readonly target: Target }> {
  const all: Attempts[] = [];
  for (const transfer of listTransfers(place, relay.host, one)) all.push(await runTwice(bench, transfer, relay, one.bytes));
  const pull = all.find(({ name }) => name === 'modelport pull');
  const twice = pull && countTwice(pull, one.bytes);
  return {
    table: {
      titles: ['killed at half', 'before, MB', 'again, MB', 'kept and hashed again, MB', 'twice, MB'],
      rows: all.map((attempts) => toRow(attempts, one.bytes)),
    },
    target: { what: 'bytes of a killed pull that came twice', unit: 'MiB', bound: 'at most', limit: 16, measured: twice && twice / 2 ** 20 },
  };
}

/** The last push is what is pulled. */
function listTransfers({ folder, storage, programs }: Place, host: string, one: Data): Transfer[] {
  const name = `${host}/bench/one:v1`;
  const home = join(folder, 'home');
  const modctlHome = join(folder, 'modctl');
  const pulled = join(folder, 'pulled');
  const modelfile = join(folder, 'Modelfile.one');
  writeModelfile(modelfile, one);
  const ours = (verb: string, args: readonly string[]) => ({
    name: `modelport ${verb}`,
    ours: true,
    command: modelport(home, [verb, ...args, '--json', '--verbose']),
  });
  const push = { way: 'sent', fresh: [storage, home, modctlHome] } as const;
  const pull = { way: 'received', fresh: [pulled, home, modctlHome] } as const;
  return [
    ...withProgram(programs.modctl, (program) => {
      const prepared = modctlBuildAs(program, modctlHome, name, modelfile, one.dir);
      return [{ ...push, name: 'modctl push', command: modctlPush(program, modctlHome, name), prepared }];
    }),
    ...withProgram(programs.oras, (program) => [{ ...push, name: 'oras push', command: orasPushFiles(program, folder, one, name) }]),
    { ...push, ...ours('push', [one.dir, name]) },
    { ...pull, ...ours('pull', [name, '-o', pulled]) },
    ...withProgram(programs.oras, (program) => [{ ...pull, name: 'oras pull', command: orasPull(program, folder, name, pulled) }]),
    ...withProgram(programs.modctl, (program) => [{ ...pull, name: 'modctl pull', command: modctlPull(program, modctlHome, name, pulled) }]),
  ];
}

async function runTwice({ meter, say }: Bench, transfer: Transfer, relay: Relay, bytes: number): Promise<Attempts> {
  const { name, way, command, fresh, prepared } = transfer;
  for (const path of fresh) rmSync(path, { recursive: true, force: true });
  if (prepared !== undefined) await meter.measure(prepared);
  relay.reset();
  const killed = await meter.kill(command, () => relay[way] >= bytes / 2);
  const before = relay[way];
  relay.reset();
  const outcome = await meter.measure(command);
  say(`${name}, killed and run again: ${outcome.kind === 'done' ? 'done' : outcome.reason}`);
  return { ...transfer, before: killed ? before : undefined, again: relay[way], outcome };
}

function countTwice({ before, again, outcome }: Attempts, bytes: number): number | undefined {
  return before === undefined || outcome.kind === 'failed' ? undefined : Math.max(0, before + again - bytes);
}

function toRow(attempts: Attempts, bytes: number): string[] {
  const { name, ours, before, again, outcome } = attempts;
  const title = ours === true ? `**${name}**` : name;
  if (before === undefined) return [`${title}: ended before it could be killed`];
  if (outcome.kind === 'failed') return [`${title}: failed`, outcome.reason];
  const resumed = parseCounters(outcome)?.resumed;
  return [title, ...[before, again, resumed, countTwice(attempts, bytes)].map((count) => (count === undefined ? '' : (count / 1e6).toFixed(1)))];
}
