import { collect, given, targetArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderPull } from '../render/pull.js';

export const pull: CommandModule = {
  examples: [
    ['Put the files of a package into a folder', 'modelport pull localhost:5000/demo/digits:v1 -o ./digits'],
    ['Keep it in the local store', 'modelport pull registry.example.com/team/digits:v1'],
    ['Many folders that share one copy on this disk', 'modelport pull --shared registry.example.com/team/digits:v1 -o ./digits'],
    ['Through a mirror that is nearer', 'modelport pull --mirror http://localhost:65001 ghcr.io/team/digits:v1 -o ./digits'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<name>', 'HOST/REPO:TAG or HOST/REPO@DIGEST')
      .option('-o, --output <place>', 'folder for the files, or FILE.carton; without it the package is kept in the local store', targetArgument)
      .option('--include <glob>', 'only files that match (repeatable)', collect)
      .option('--exclude <glob>', 'no files that match (repeatable)', collect)
      .option('-f, --overwrite', 'replace files that exist')
      .option('--same-owner', 'give the files the user and group numbers of the package')
      .option('--shared', 'read-only files that share their bytes with the local store')
      .option('--referrers', 'also what is attached, into the local store')
      .option('--inflate', 'of a carton that becomes a file: what is linked comes inside')
      .action((name, options) => {
        const { output, include, exclude, overwrite, sameOwner, shared, referrers, inflate } = options;
        const wanted = given({ output, include, exclude, overwrite, sameOwner, shared, referrers, inflate });
        return cli.run(options, (ops, context) => ops.pull({ name, ...wanted }, context), renderPull);
      }),
};
