import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { type Cli, createCli, loadOps, type Ops } from './cli.js';
import type { Escape } from './display.js';
import { toFailure } from './errors.js';
import { exitCodes } from './exit-codes.js';
import { type CliIo, isBrokenPipe } from './io.js';
import { type OutputOptions, writeFailure } from './output.js';
import { createProgram } from './program.js';
import { commands } from './commands.js';
import { colorModes } from './terminal.js';

/**
 * One call of the program. Resolves to the status of the process; never throws, never ends it. Nothing but the result goes to
 * `io.stdout`. `load` brings the verbs.
 */
export async function runCli(argv: readonly string[], io: CliIo, load: () => Promise<Ops> = loadOps): Promise<number> {
  const words = toWords(argv);
  const called = findCalled(words);
  const cli = createCli(io, load);
  const program = await createProgram(called, cli);
  try {
    await program.parseAsync(words, { from: 'user' });
    return cli.exitCode();
  } catch (error) {
    return await report(error, words, program.commands.find((command) => command.name() === called) ?? program, cli, load);
  }
}

/** `--version` is the verb of that name; help for what does not exist is as wrong as calling it. */
function toWords(argv: readonly string[]): string[] {
  const [first, ...rest] = argv;
  if (first === '--version' || first === '-V') return ['version', ...rest];
  if (first === 'help' && rest[0] !== undefined && !isCommand(rest[0])) return rest;
  return [...argv];
}

function isCommand(word: string): boolean {
  return word === 'help' || commands.some(({ name }) => name === word);
}

/** Whose options are needed; the completion needs those of all. */
function findCalled([first, second]: readonly string[]): string | undefined {
  if (first === '__complete') return 'all';
  return first === 'help' ? second : first;
}

async function report(
  error: unknown,
  words: readonly string[],
  called: CommandUnknownOpts,
  { io, exitCode }: Cli,
  load: () => Promise<Ops>,
): Promise<number> {
  if (isBrokenPipe(error)) return exitCode();
  if (error instanceof CommanderError && error.code === 'commander.helpDisplayed') return exitCodes.ok;
  if (error instanceof CommanderError && error.code === 'commander.help') return words[0] === 'help' ? exitCodes.ok : exitCodes.usage;
  const path = called.parent === null ? 'modelport' : `modelport ${called.name()}`;
  const failure = toFailure(error, io.signal, `${path} ${called.usage()}`, `${path} --help`);
  try {
    await writeFailure(io, findOutputOptions(words), await findEscape(load), failure);
  } catch (broken) {
    if (!isBrokenPipe(broken)) throw broken;
  }
  return failure.exitCode;
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
