import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import type { Ops } from './cli.js';
import type { Escape } from './display.js';
import { toFailure } from './errors.js';
import { exitCodes } from './exit-codes.js';
import { type CliIo, isBrokenPipe } from './io.js';
import { type OutputOptions, writeFailure } from './output.js';
import { colorModes } from './terminal.js';

/** What was being done when an error came. */
export interface Situation {
  readonly words: readonly string[];
  /** Absent when the program itself could not be made. */
  readonly called: CommandUnknownOpts | undefined;
  readonly io: CliIo;
  readonly load: () => Promise<Ops>;
  /** What the command had said before, if it came so far. */
  readonly exitCode: number;
}

/** Says what went wrong and resolves to the status of the process. Never throws: when nobody can be told, the status still tells. */
export async function report(problem: unknown, { words, called, io, load, exitCode }: Situation): Promise<number> {
  if (isBrokenPipe(problem)) return exitCode;
  if (problem instanceof CommanderError && problem.code === 'commander.helpDisplayed') return exitCodes.ok;
  if (problem instanceof CommanderError && problem.code === 'commander.help') return words[0] === 'help' ? exitCodes.ok : exitCodes.usage;
  const path = called === undefined ? 'modelport' : pathOf(called);
  const failure = toFailure(problem, io.signal, { usage: `${path} ${called?.usage() ?? ''}`, help: `${path} --help`, isCommand: isCommand(called) });
  await writeFailure(io, findOutputOptions(words), await findEscape(load), failure).catch(() => {});
  return failure.exitCode;
}

/** `modelport registry serve` */
function pathOf(command: CommandUnknownOpts): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** The program and a group of commands are none. */
function isCommand(called: CommandUnknownOpts | undefined): boolean {
  return called !== undefined && called.commands.length === 0;
}

/** How to show a mistake that was made before, or in, the options. */
function findOutputOptions(words: readonly string[]): OutputOptions {
  const end = words.indexOf('--');
  const options = end < 0 ? words : words.slice(0, end);
  const color = colorModes.find((mode) => options.includes(`--color=${mode}`) || options[options.indexOf('--color') + 1] === mode);
  return { json: options.includes('--json'), color };
}

/** Even a broken installation can say what is broken. */
async function findEscape(load: () => Promise<Ops>): Promise<Escape> {
  try {
    return (await load()).escapeForDisplay;
  } catch {
    return (text) => text;
  }
}
