import { given, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderList } from '../render/list.js';

export const list: CommandModule = {
  examples: [
    ['List what the local store holds', 'modelport list'],
    ['List the packages of a layout', 'modelport list oci:./layout'],
    ['Only the names, for a script', 'modelport list --quiet'],
  ],
  define: (command, cli) =>
    command
      .argument('[location]', 'layout or archive; without it the local store', sourceArgument)
      .action((location, options) => cli.run(options, (ops, context) => ops.list(given({ location }), context), renderList)),
};
