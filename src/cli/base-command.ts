import { Command, type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { progressModes } from './progress.js';
import { colorModes } from './terminal.js';

const common = 'Common options:';
const mostAtOnce = 64;

/** A command with the options that every command has. Its own options are added by its file. `inherit` gives it the program's settings. */
export function createBaseCommand(name: string, inherit: (command: CommandUnknownOpts) => void) {
  const command = new Command(name);
  inherit(command);
  return command
    .addOption(new Option('--json', 'print the result as one JSON document').helpGroup(common))
    .addOption(new Option('-q, --quiet', 'print the bare result, no progress, no warnings').helpGroup(common))
    .addOption(new Option('-v, --verbose', 'also print bytes read, hashed, written and skipped').helpGroup(common))
    .addOption(new Option('--progress <how>', 'bars at a terminal, lines, or JSON events on stderr').choices(progressModes).helpGroup(common))
    .addOption(new Option('--no-progress', 'show no progress').helpGroup(common))
    .addOption(new Option('--color <when>', 'colours in the output (also NO_COLOR)').choices(colorModes).helpGroup(common))
    .addOption(new Option('--concurrency <n>', 'files or layers worked on at a time').argParser(parseConcurrency).helpGroup(common))
    .addHelpOption(new Option('-h, --help', 'show this help').helpGroup(common));
}

export type BaseCommand = ReturnType<typeof createBaseCommand>;
export type CommonOptions = ReturnType<BaseCommand['opts']>;

function parseConcurrency(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= mostAtOnce) return count;
  throw new InvalidArgumentError(`Expected a whole number from 1 to ${mostAtOnce}.`);
}
