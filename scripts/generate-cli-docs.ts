/** docs/cli.md, from the program itself: what `--help` knows, on one page. */
import type { CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { type CommandEntry, type CommandGroup, commands, createCli, createProgram, isGroup } from '../src/cli/index.js';

export const file = 'docs/cli.md';

const intro = `# The command line

Generated from \`src/cli\` by \`npm run docs\`. \`modelport help COMMAND\` says the same.

A *location* is a folder or a file (what it is, is decided by content), \`oci:DIR[:TAG][@DIGEST]\`, \`oci-archive:FILE[:TAG]\`, \`docker-archive:FILE[:TAG]\`, or a
name: \`demo/digits:v1\` lives in the local store only. A path that exists wins over a name. The local store is an OCI image layout in \`$MODELPORT_HOME\`.

Results go to standard output, progress and warnings to standard error. With \`--json\` standard output is exactly one document, for an error
\`{ "error": { "code", "message", "hint", "where" } }\`; the codes stand in [error-codes.md](error-codes.md). Sizes for people are powers of 1000.

| exit | meaning |
| --- | --- |
| 0 | done and good |
| 1 | the package has errors: validation, verification, refused losses, differences |
| 2 | wrong usage |
| 3 | the world: disk, network, a missing file or program |
| 70 | a bug of modelport |
| 130 | interrupted |
`;

export async function generate(): Promise<string> {
  const stream = process.stdout;
  const cli = createCli({ stdin: process.stdin, stdout: stream, stderr: stream, env: {}, cwd: '.', signal: new AbortController().signal });
  const program = await createProgram('all', cli);
  const groups = [...new Set(commands.map(({ group }) => group))];
  const sections = await Promise.all(groups.map((group) => describeGroup(group, program)));
  const [first] = program.commands;
  return [intro, ...sections, ...(first === undefined ? [] : [describeCommon(first)])].join('\n');
}

async function describeGroup(group: string, program: CommandUnknownOpts): Promise<string> {
  const entries = commands.filter((entry) => entry.group === group);
  const texts = await Promise.all(entries.map((entry) => describeEntry(entry, program)));
  return [`## ${group.replace(/:$/, '')}\n`, ...texts].join('\n');
}

async function describeEntry(entry: CommandEntry | CommandGroup, parent: CommandUnknownOpts): Promise<string> {
  const command = parent.commands.find((each) => each.name() === entry.name);
  if (command === undefined) throw new Error(`Cannot describe "${entry.name}": the program does not have it`);
  if (!isGroup(entry)) return describeCommand(entry, command);
  return (await Promise.all(entry.commands.map((each) => describeEntry(each, command)))).join('\n');
}

async function describeCommand(entry: CommandEntry, command: CommandUnknownOpts): Promise<string> {
  const { examples } = await entry.load();
  const path = pathOf(command);
  const lines = examples.flatMap(([purpose, line]) => [`# ${purpose}`, line]);
  const facts = command.registeredArguments.map((argument) => {
    return `| \`${argument.name()}\` | ${toCell(argument.description)}${toChoices(argument.argChoices)} |`;
  });
  const own = command.options.filter((option) => !isCommon(option)).map(toRow);
  const table = facts.length + own.length === 0 ? [] : ['', '| argument or option | meaning |', '| --- | --- |', ...facts, ...own];
  return [`### ${path}`, '', `${entry.summary}: \`${path} ${command.usage()}\``, '', '```sh', ...lines, '```', ...table, ''].join('\n');
}

/** `modelport registry serve` */
function pathOf(command: CommandUnknownOpts): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function describeCommon(command: CommandUnknownOpts): string {
  const rows = command.options.filter(isCommon).map(toRow);
  return ['## Common options', '', '| option | meaning |', '| --- | --- |', ...rows, '| `-h, --help` | show the help of the command |', ''].join(
    '\n',
  );
}

/** What many commands have stands once. */
function isCommon({ helpGroupHeading }: Option): boolean {
  return helpGroupHeading === 'Common options:' || helpGroupHeading === 'Registry options:';
}

function toRow({ flags, description, argChoices, defaultValue }: Option): string {
  const initial = typeof defaultValue === 'string' ? ` (default: ${defaultValue})` : '';
  return `| \`${flags}\` | ${toCell(description)}${toChoices(argChoices)}${initial} |`;
}

function toChoices(choices: readonly string[] | undefined): string {
  return choices === undefined ? '' : ` (${choices.join(', ')})`;
}

function toCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
