import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { createCli, loadOps, type Ops } from './cli.js';
import { commands } from './commands.js';
import type { CliIo } from './io.js';
import { createProgram } from './program.js';
import { report } from './report.js';

/**
 * One call of the program. Resolves to the status of the process; never throws, never ends it. Nothing but the result goes to
 * `io.stdout`. `load` brings the verbs.
 */
export async function runCli(argv: readonly string[], io: CliIo, load: () => Promise<Ops> = loadOps): Promise<number> {
  const words = toWords(argv);
  const name = findCalled(words);
  const cli = createCli(io, load);
  let called: CommandUnknownOpts | undefined;
  try {
    const program = await createProgram(name, cli);
    called = program.commands.find((command) => command.name() === name) ?? program;
    await program.parseAsync(words, { from: 'user' });
    return cli.exitCode();
  } catch (error) {
    return await report(error, { words, called, io, load, exitCode: cli.exitCode() });
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
