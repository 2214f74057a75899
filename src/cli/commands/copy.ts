import { given, locationHelp, sourceArgument, targetArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderCopy } from '../render/copy.js';

export const copy: CommandModule = {
  examples: [
    ['Take a package out of the store as one file', 'modelport copy demo/digits:v1 digits.tar'],
    ['Bring it back under a name', 'modelport copy digits.tar demo/digits:v1'],
    ['A carton out of a registry, as the file that it was', 'modelport copy localhost:5000/demo/digits:v1 digits.carton'],
    ['Copy every tag of a layout', 'modelport copy --all oci:./layout oci:./mirror'],
    [
      'Move a repository with its signatures to another registry',
      'modelport copy --all --referrers old.example.com/team/model new.example.com/team/model',
    ],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<source>', locationHelp, sourceArgument)
      .argument('<destination>', 'file, oci:DIR:TAG, oci-archive:FILE[:TAG], name, or HOST/REPO:TAG', targetArgument)
      .option('--all', 'every package of a layout, an archive or a repository, with its name')
      .option('--referrers', 'also what is attached: signatures, attestations')
      .option('--inflate', 'of a carton: what is linked comes inside')
      .action((source, destination, options) => {
        const { all, referrers, inflate } = options;
        return cli.run(options, (ops, context) => ops.copy({ source, destination, ...given({ all, referrers, inflate }) }, context), renderCopy);
      }),
};
