import { Command, type CommandUnknownOpts, Help, Option } from '@commander-js/extra-typings';
import { createBaseCommand } from './base-command.js';
import type { Cli } from './cli.js';
import type { Example } from './command-module.js';
import { type CommandEntry, type CommandGroup, commands, hiddenCommands, isGroup } from './commands.js';
import { styleFor } from './terminal.js';

const firstSteps: readonly Example[] = [
  ['Make a package of a folder and keep it under a name', 'modelport pack ./digits -t demo/digits:v1'],
  ['See what it is, and whether it is right', 'modelport inspect demo/digits:v1 && modelport validate demo/digits:v1'],
  ['Take it along as one file, and check every byte of it', 'modelport copy demo/digits:v1 digits.tar && modelport verify digits.tar'],
  ['Get the files back', 'modelport unpack digits.tar -o ./copy'],
];

/** The words that name a command, such as `registry serve`; `'all'` when every command is needed. */
export type Called = readonly string[] | 'all';

/** The program with its options for `called` only; the other commands are known by name and summary. */
export async function createProgram(called: Called, cli: Cli): Promise<CommandUnknownOpts> {
  const program = new Command('modelport')
    .description('Pack, inspect, validate, verify, convert and ship AI model packages')
    .option('-V, --version', 'print the version')
    .addHelpOption(new Option('-h, --help', 'show this help'))
    .addHelpCommand(createHelpCommand())
    .addHelpText('before', `${toExampleText(firstSteps)}\n`)
    .addHelpText('after', '\nThe help of a command begins with examples: modelport help COMMAND');
  settle(program, cli);
  for (const entry of commands) program.addCommand(await createCommand(entry, called, program, cli));
  for (const entry of hiddenCommands) program.addCommand(await createCommand(entry, called, program, cli), { hidden: true });
  return program;
}

function createHelpCommand() {
  const help = new Command('help').description('Show the help of a command').helpGroup('The program:');
  help.argument('[command]');
  return help;
}

/** Where help and mistakes go: nothing is printed twice, and nothing ends the process. */
function settle(program: CommandUnknownOpts, { io }: Cli): void {
  const style = styleFor(io.stdout, io.env);
  const width = () => Math.min(style.width, 120);
  program.exitOverride();
  program.configureOutput({
    writeOut: (text) => void io.stdout.write(text),
    writeErr: (text) => void io.stderr.write(text),
    outputError: () => {},
    getOutHelpWidth: width,
    getErrHelpWidth: width,
    getOutHasColors: () => style.color.isColorSupported,
    getErrHasColors: () => false,
  });
  program.configureHelp({
    minWidthToWrap: 20,
    subcommandTerm: (command) => command.name(),
    styleTitle: (title) => style.color.bold(title),
    groupItems: (...items) => commonLast(Help.prototype.groupItems(...items)),
  });
}

const lastGroups = ['How the model is run:', 'Registry options:', 'Common options:'];

/** What belongs to this command only stands before what many and what all commands have. */
function commonLast<T>(groups: Map<string, T[]>): Map<string, T[]> {
  const rank = ([heading]: [string, T[]]) => lastGroups.indexOf(heading);
  return new Map([...groups].sort((a, b) => rank(a) - rank(b)));
}

async function createCommand(entry: CommandEntry | CommandGroup, called: Called, parent: CommandUnknownOpts, cli: Cli): Promise<CommandUnknownOpts> {
  if (called !== 'all' && called[0] !== entry.name) return new Command(entry.name).description(entry.summary).helpGroup(entry.group);
  if (isGroup(entry)) return createGroup(entry, called === 'all' ? called : called.slice(1), parent, cli);
  const { examples, define, usesRegistries } = await entry.load();
  const command = createBaseCommand(entry.name, usesRegistries, (bare) => bare.copyInheritedSettings(parent));
  if (examples.length > 0) command.addHelpText('before', `${toExampleText(examples)}\n`);
  define(command.description(entry.summary), cli);
  return command.helpGroup(entry.group);
}

async function createGroup(entry: CommandGroup, called: Called, parent: CommandUnknownOpts, cli: Cli): Promise<CommandUnknownOpts> {
  const group = new Command(entry.name).copyInheritedSettings(parent).helpCommand(false).description(entry.summary).helpGroup(entry.group);
  group.addHelpText('before', `${toExampleText(entry.examples)}\n`);
  for (const each of entry.commands) group.addCommand(await createCommand(each, called, group, cli));
  return group;
}

function toExampleText(examples: readonly Example[]): string {
  return ['Examples:', ...examples.flatMap(([purpose, line]) => [`  # ${purpose}`, `  ${line}`])].join('\n');
}
