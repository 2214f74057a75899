import { given, locationHelp, sourceArgument, targetArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { usageError } from '../errors.js';
import { renderConvert } from '../render/convert.js';

export const convert: CommandModule = {
  examples: [
    ['Stamp a package as another edition; no blob is touched', 'modelport convert demo/digits:v1 demo/digits:v1-cnai --vintage cnai'],
    ['See what would be lost, write nothing', 'modelport convert demo/digits:v1 digits.tar --vintage draft-2024 --dry-run'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<source>', locationHelp, sourceArgument)
      .argument('[destination]', 'file, oci:DIR:TAG, oci-archive:FILE[:TAG] or name', targetArgument)
      .option('-t, --tag <name>', 'destination: a name in the local store')
      .option('-o, --output <place>', 'destination: a file or layout', targetArgument)
      .option('--format <format>', 'format to write', 'modelpack')
      .option('--vintage <vintage>', 'edition of the format: cncf (default), cnai, draft-2024')
      .option('--dry-run', 'only say what would be written and lost')
      .option('--fail-on-loss', 'write nothing and exit with 1 when something would be lost')
      .action((source, written, options) => {
        const { format, vintage, dryRun, failOnLoss } = options;
        const destination = onlyOne([written, options.tag, options.output]);
        return cli.run(
          options,
          (ops, context) => ops.convert({ source, destination, format, ...given({ vintage, dryRun, failOnLoss }) }, context),
          renderConvert,
        );
      }),
};

function onlyOne(places: readonly (string | undefined)[]): string {
  const [place, another] = places.filter((each) => each !== undefined);
  if (place === undefined)
    throw usageError('Cannot convert: it is not said where the result goes', 'Name a destination after the source, or add -t NAME or -o FILE.tar');
  if (another !== undefined)
    throw usageError(`Cannot convert to both "${place}" and "${another}": there is one destination`, 'Leave one of them out');
  return place;
}
