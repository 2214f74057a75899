import type { CommandModule } from '../command-module.js';
import { renderRm } from '../render/rm.js';

export const rm: CommandModule = {
  examples: [
    ['Remove a name; the bytes go with the next prune', 'modelport rm demo/digits:v1'],
    ['Remove and free the space', 'modelport rm demo/digits:v1 && modelport prune'],
  ],
  define: (command, cli) =>
    command
      .argument('<names...>', 'names in the local store')
      .option('-y, --yes', 'do not ask (the local store never asks)')
      .action((names, options) => cli.run(options, (ops, context) => ops.rm({ names }, context), renderRm)),
};
