import { askYesNo } from '../ask.js';
import type { CommandModule } from '../command-module.js';
import { usageError } from '../errors.js';
import { renderRemoteRm, renderRm } from '../render/rm.js';

export const rm: CommandModule = {
  examples: [
    ['Remove a name; the bytes go with the next prune', 'modelport rm demo/digits:v1'],
    ['Remove and free the space', 'modelport rm demo/digits:v1 && modelport prune'],
    ['Remove a tag at its registry', 'modelport rm --remote localhost:5000/digits:v1'],
    ['In a script, where nobody can be asked', 'modelport rm --remote --yes localhost:5000/digits:v1'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<names...>', 'names in the local store, or with --remote at registries')
      .option('-y, --yes', 'do not ask (the local store never asks)')
      .action(async (names, options) => {
        const question = `Remove ${names.join(', ')} for everybody who uses the registry?`;
        if (options.remote === true && options.yes !== true && !(await askYesNo(cli.io, question))) {
          throw usageError('Nothing was removed: it was not confirmed', 'Add --yes where nobody can be asked');
        }
        await cli.run(options, (ops, context) => ops.rm({ names }, context), options.remote === true ? renderRemoteRm : renderRm);
      }),
};
