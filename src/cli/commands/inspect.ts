import { given, locationHelp, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderInspect } from '../render/inspect.js';

export const inspect: CommandModule = {
  examples: [
    ['See what a package is', 'modelport inspect demo/digits:v1'],
    ['See what a folder would become', 'modelport inspect ./digits'],
    ['Ask for one value in a script', 'modelport inspect demo/digits:v1 --json | jq .weights.parameters'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<location>', locationHelp, sourceArgument)
      .option('--tensors', 'list every tensor too')
      .option('--digest', 'compute digests that are not known without reading')
      .option('--links', 'also fetch and look into what is only linked')
      .action((location, options) => {
        const { tensors, digest, links } = options;
        return cli.run(options, (ops, context) => ops.inspect({ location, ...given({ tensors, digest, links }) }, context), renderInspect);
      }),
};
