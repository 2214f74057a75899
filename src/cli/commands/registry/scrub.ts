import { given, sourceArgument } from '../../arguments.js';
import type { CommandModule } from '../../command-module.js';
import { judge } from '../../exit-codes.js';
import { renderScrub } from '../../render/registry/scrub.js';

export const scrub: CommandModule = {
  examples: [
    ['Hash everything that a registry holds', 'modelport registry scrub --dir ./registry'],
    ['Beside other work, at 50 MB a second', 'modelport registry scrub --dir ./registry --rate 50MB'],
  ],
  define: (command, cli) =>
    command
      .option('--dir <dir>', 'OCI layout to check; without it the local store', sourceArgument)
      .option('-n, --dry-run', 'set nothing aside, only say what is bad')
      .option('--rate <bytes>', 'read at most this much a second, such as 50MB')
      .action((options) => {
        const { dir, dryRun, rate } = options;
        return cli.run(
          options,
          (ops, context) => ops.scrubRegistry(given({ dir, dryRun, rate }), context),
          renderScrub,
          ({ ok }) => judge(ok),
        );
      }),
};
