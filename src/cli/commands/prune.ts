import { given } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderPrune } from '../render/prune.js';

export const prune: CommandModule = {
  examples: [
    ['See what would go', 'modelport prune --dry-run'],
    ['Free the space', 'modelport prune'],
  ],
  define: (command, cli) =>
    command
      .option('-n, --dry-run', 'delete nothing, only say what would go')
      .action((options) => cli.run(options, (ops, context) => ops.prune(given({ dryRun: options.dryRun }), context), renderPrune)),
};
