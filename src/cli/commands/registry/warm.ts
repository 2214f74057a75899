import { collect, given, sourceArgument, targetArgument } from '../../arguments.js';
import type { CommandModule } from '../../command-module.js';
import { renderWarm } from '../../render/registry/warm.js';

export const warm: CommandModule = {
  examples: [
    ['Fill the folder of a mirror before it is asked', 'modelport registry warm --dir ./mirror ghcr.io/team/digits:v1'],
    ['From a file, where there is no network', 'modelport registry warm --dir ./mirror --from digits.tar ghcr.io/team/digits:v1'],
    [
      'Only single files; the others come when they are asked for',
      "modelport registry warm --dir ./mirror --include '*.json' ghcr.io/team/digits:v1",
    ],
  ],
  usesRegistries: 'without-names',
  define: (command, cli) =>
    command
      .argument('<names...>', 'HOST/REPO:TAG')
      .requiredOption('--dir <dir>', 'folder that the mirror serves', targetArgument)
      .option('--from <location>', 'take the package from a layout or archive, not from its registry', sourceArgument)
      .option('--include <glob>', 'only layers with files that match (repeatable)', collect)
      .action((names, options) => {
        const { dir, from, include } = options;
        return cli.run(options, (ops, context) => ops.warmRegistry({ names, dir, ...given({ from, include }) }, context), renderWarm);
      }),
};
