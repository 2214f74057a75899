import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { createCli, loadOps, type Ops } from './cli.js';
import { commands, isGroup } from './commands.js';
import type { CliIo } from './io.js';
import { createProgram } from './program.js';
import { report } from './report.js';

/**
 * One call of the program. Resolves to the status of the process; never throws, never ends it. Nothing but the result goes to
 * `io.stdout`. `load` brings the verbs.
 */
export async function runCli(argv: readonly string[], io: CliIo, load: () => Promise<Ops> = loadOps): Promise<number> {
  const words = toWords(argv);
  const cli = createCli(io, load);
  let called: CommandUnknownOpts | undefined;
  try {
    const program = await createProgram(words[0] === '__complete' ? 'all' : words, cli);
    called = findCalled(program, words);
    await program.parseAsync(words, { from: 'user' });
    return cli.exitCode();
  } catch (error) {
    return await report(error, { words, called, io, load, exitCode: cli.exitCode() });
  }
}

/** `--version` is the verb of that name, and `help` the option; help for what does not exist is as wrong as calling it. */
function toWords(argv: readonly string[]): string[] {
  const [first, ...rest] = argv;
  if (first === '--version' || first === '-V') return ['version', ...rest];
  if (first === 'help' && rest[0] !== undefined && rest[0] !== 'help') return isCommand(rest) ? [...rest, '--help'] : rest;
  return [...argv];
}

function isCommand([first, ...rest]: readonly string[], among: typeof commands = commands): boolean {
  const entry = among.find(({ name }) => name === first);
  if (entry === undefined || !isGroup(entry) || rest[0] === undefined || rest[0].startsWith('-')) return entry !== undefined;
  return isCommand(rest, entry.commands);
}

/** As far as the words name something: the command, a group of commands, or the program. */
function findCalled(program: CommandUnknownOpts, words: readonly string[]): CommandUnknownOpts {
  const next = program.commands.find((command) => command.name() === words[0]);
  return next === undefined ? program : findCalled(next, words.slice(1));
}
