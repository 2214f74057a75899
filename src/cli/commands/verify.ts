import { given, locationHelp, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { judge } from '../exit-codes.js';
import { renderVerify } from '../render/verify.js';

export const verify: CommandModule = {
  examples: [
    ['Hash every byte of a package', 'modelport verify demo/digits:v1'],
    ['Hash everything that the local store names', 'modelport verify'],
    ['Check a file before it is sent on', 'modelport verify digits.tar'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('[location]', `${locationHelp}; without it all that the local store names`, sourceArgument)
      .option('--links', 'also fetch and hash what is only linked')
      .action((location, options) =>
        cli.run(
          options,
          (ops, context) => ops.verify(given({ location, links: options.links }), context),
          renderVerify,
          ({ ok }) => judge(ok),
        ),
      ),
};
