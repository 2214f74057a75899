import { Command, type CommandUnknownOpts, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { collect } from './arguments.js';
import { progressModes } from './progress.js';
import { colorModes } from './terminal.js';

const common = 'Common options:';
const network = 'Registry options:';
const mostAtOnce = 64;

/** With the options about names too, or only those that say how registries are spoken to. */
export type RegistryUse = 'with-names' | 'without-names';

/**
 * A command with the options that every command has, and those of registries where it has to do with them. Its own options are added by
 * its file. `inherit` gives it the program's settings.
 */
export function createBaseCommand(name: string, usesRegistries: RegistryUse | undefined, inherit: (command: CommandUnknownOpts) => void) {
  const command = new Command(name);
  inherit(command);
  const base = addCommonOptions(command);
  // What is not asked for is absent: the types are the same either way.
  type Complete = ReturnType<typeof addNameOptions>;
  if (usesRegistries === undefined) return base as Complete;
  const talking = addTransportOptions(base);
  return usesRegistries === 'with-names' ? addNameOptions(talking) : (talking as Complete);
}

function addNameOptions(command: ReturnType<typeof addTransportOptions>) {
  return command
    .addOption(new Option('--local', 'names are those of the local store only').helpGroup(network).conflicts('remote'))
    .addOption(new Option('--remote', 'names are those of registries only').helpGroup(network))
    .addOption(
      new Option('--mirror <host>', 'read from HOST[:PORT][/PREFIX] first, and from the registry where that fails (repeatable)')
        .argParser(collect)
        .helpGroup(network),
    );
}

function addTransportOptions(command: ReturnType<typeof addCommonOptions>) {
  return command
    .addOption(new Option('--plain-http', 'speak to registries without TLS (to this machine it is the rule)').helpGroup(network))
    .addOption(new Option('--insecure', 'do not check certificates').helpGroup(network))
    .addOption(new Option('--offline', 'fetch nothing from anywhere').helpGroup(network))
    .addOption(new Option('--ca-file <file>', 'trust this certificate authority too (PEM)').helpGroup(network))
    .addOption(new Option('--cert <file>', 'certificate to show to registries (PEM)').helpGroup(network))
    .addOption(new Option('--key <file>', 'its key (PEM)').helpGroup(network));
}

function addCommonOptions(command: Command) {
  return command
    .addOption(new Option('--json', 'print the result as one JSON document').helpGroup(common))
    .addOption(new Option('-q, --quiet', 'print the bare result, no progress, no warnings').helpGroup(common))
    .addOption(new Option('-v, --verbose', 'also print bytes read, hashed, written, sent and received, and requests').helpGroup(common))
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
