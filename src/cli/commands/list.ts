import { given, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderList } from '../render/list.js';

export const list: CommandModule = {
  examples: [
    ['List what the local store holds', 'modelport list'],
    ['List the packages of a layout', 'modelport list oci:./layout'],
    ['List the tags of a repository, and the repositories of a registry', 'modelport list localhost:5000/team/model; modelport list localhost:5000'],
    ['Only the names, for a script', 'modelport list --quiet'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('[location]', 'layout, archive, HOST/REPO or HOST; without it the local store', sourceArgument)
      .action((location, options) => cli.run(options, (ops, context) => ops.list(given({ location }), context), renderList)),
};
