import { given, sourceArgument } from '../../arguments.js';
import type { CommandModule } from '../../command-module.js';
import { renderGc } from '../../render/registry/gc.js';

export const gc: CommandModule = {
  examples: [
    ['See what would go', 'modelport registry gc --dir ./registry --dry-run'],
    ['Also packages that lost their last tag a month ago', 'modelport registry gc --dir ./registry --untagged --older-than 30d'],
  ],
  define: (command, cli) =>
    command
      .option('--dir <dir>', 'OCI layout to clean; without it the local store', sourceArgument)
      .option('-n, --dry-run', 'delete nothing, only say what would go')
      .option('--untagged', 'also packages of a repository that have no tag and belong to nothing')
      .option('--older-than <duration>', 'leave what is younger alone', '1h')
      .action((options) => {
        const { dir, dryRun, untagged, olderThan } = options;
        return cli.run(options, (ops, context) => ops.collectRegistry(given({ dir, dryRun, untagged, olderThan }), context), renderGc);
      }),
};
