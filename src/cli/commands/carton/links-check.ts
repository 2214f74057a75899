import { locationHelp, sourceArgument } from '../../arguments.js';
import type { CommandModule } from '../../command-module.js';
import { judge } from '../../exit-codes.js';
import { renderLinks } from '../../render/carton/links.js';

export const linksCheck: CommandModule = {
  examples: [['Fetch and hash what every URL serves, and keep nothing', 'modelport carton links check model.carton']],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command.argument('<location>', locationHelp, sourceArgument).action((location, options) =>
      cli.run(
        options,
        (ops, context) => ops.checkCartonLinks({ location }, context),
        renderLinks,
        ({ ok }) => judge(ok),
      ),
    ),
};
