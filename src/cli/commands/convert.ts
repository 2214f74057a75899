import { given, locationHelp, sourceArgument, targetArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderConvert } from '../render/convert.js';

export const convert: CommandModule = {
  examples: [
    ['Stamp a package as another edition; no blob is touched', 'modelport convert demo/digits:v1 demo/digits:v1-cnai --vintage cnai'],
    ['See what would be lost, write nothing', 'modelport convert demo/digits:v1 digits.tar --vintage draft-2024 --dry-run'],
  ],
  define: (command, cli) =>
    command
      .argument('<source>', locationHelp, sourceArgument)
      .argument('<destination>', 'file, oci:DIR:TAG, oci-archive:FILE[:TAG] or name', targetArgument)
      .option('--format <format>', 'format to write', 'modelpack')
      .option('--vintage <vintage>', 'edition of the format: cncf (default), cnai, draft-2024')
      .option('--dry-run', 'only say what would be written and lost')
      .option('--fail-on-loss', 'write nothing and exit with 1 when something would be lost')
      .action((source, destination, options) => {
        const { format, vintage, dryRun, failOnLoss } = options;
        return cli.run(
          options,
          (ops, context) => ops.convert({ source, destination, format, ...given({ vintage, dryRun, failOnLoss }) }, context),
          renderConvert,
        );
      }),
};
