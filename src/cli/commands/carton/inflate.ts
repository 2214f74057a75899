import { locationHelp, sourceArgument, targetArgument } from '../../arguments.js';
import type { CommandModule } from '../../command-module.js';
import { renderCopy } from '../../render/copy.js';

export const inflate: CommandModule = {
  examples: [['Everything inside, nothing left to fetch', 'modelport carton inflate small.carton whole.carton']],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<source>', locationHelp, sourceArgument)
      .argument('<destination>', 'FILE.carton, or a name', targetArgument)
      .action((source, destination, options) =>
        cli.run(options, (ops, context) => ops.inflateCartonFile({ source, destination }, context), renderCopy),
      ),
};
