import { given, locationHelp, sourceArgument, targetArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderCopy } from '../render/copy.js';

export const copy: CommandModule = {
  examples: [
    ['Take a package out of the store as one file', 'modelport copy demo/digits:v1 digits.tar'],
    ['Bring it back under a name', 'modelport copy digits.tar demo/digits:v1'],
    ['Copy every tag of a layout', 'modelport copy --all oci:./layout oci:./mirror'],
  ],
  define: (command, cli) =>
    command
      .argument('<source>', locationHelp, sourceArgument)
      .argument('<destination>', 'file, oci:DIR:TAG, oci-archive:FILE[:TAG] or name', targetArgument)
      .option('--all', 'every package of a layout or archive, with its name')
      .action((source, destination, options) =>
        cli.run(options, (ops, context) => ops.copy({ source, destination, ...given({ all: options.all }) }, context), renderCopy),
      ),
};
