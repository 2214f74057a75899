import { given, locationHelp, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderLongList, renderPaths } from '../render/ls.js';

export const ls: CommandModule = {
  examples: [
    ['List the files of a package', 'modelport ls demo/digits:v1'],
    ['With mode, role, size and digest', 'modelport ls -l demo/digits:v1'],
    ['Hash what is inside tar layers, too', 'modelport ls --digests demo/digits:v1'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<location>', locationHelp, sourceArgument)
      .option('-l, --long', 'also mode, role, size and digest')
      .option('--digests', 'as --long, and compute digests that are not known without reading')
      .action((location, options) => {
        const isLong = options.long === true || options.digests === true;
        return cli.run(
          options,
          (ops, context) => ops.ls({ location, ...given({ digests: options.digests }) }, context),
          isLong ? renderLongList : renderPaths,
        );
      }),
};
