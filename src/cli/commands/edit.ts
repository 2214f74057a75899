import { collect, given, locationHelp, sourceArgument, targetArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderEdit } from '../render/edit.js';

export const edit: CommandModule = {
  examples: [
    ['Set a licence; the weights are neither read nor written', 'modelport edit demo/digits:v1 -t demo/digits:v2 --set licenses=Apache-2.0'],
    ['Take a long text out of a file', 'modelport edit demo/digits:v1 -t demo/digits:v2 --set description=@README.md'],
    ['Add one file and drop another', 'modelport edit digits.tar -o digits-2.tar --add NOTICE:doc --remove draft.md'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<location>', locationHelp, sourceArgument)
      .option('-t, --tag <name>', 'keep the new package under this name')
      .option('-o, --output <place>', 'write the new package here', targetArgument)
      .option('--set <key=value>', 'a value, or @FILE for the text of a file (repeatable)', collect)
      .option('--add <file[:role]>', 'add or replace a file (repeatable)', collect)
      .option('--remove <path>', 'leave a file of the package out (repeatable)', collect)
      .action((location, options) => {
        const { tag, output, set, add, remove } = options;
        return cli.run(options, (ops, context) => ops.edit({ location, ...given({ name: tag, output, set, add, remove }) }, context), renderEdit);
      }),
};
