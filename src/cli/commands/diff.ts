import { given, locationHelp, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { judge } from '../exit-codes.js';
import { renderDiff } from '../render/diff.js';

export const diff: CommandModule = {
  examples: [
    ['Compare two packages', 'modelport diff demo/digits:v1 demo/digits:v2'],
    ['Compare a package with the folder it came from, tensor values too', 'modelport diff demo/digits:v1 ./digits --values'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<a>', locationHelp, sourceArgument)
      .argument('<b>', locationHelp, sourceArgument)
      .option('--values', 'compare the bytes of tensors, not only their dtypes and shapes')
      .action((a, b, options) =>
        cli.run(
          options,
          (ops, context) => ops.diff({ a, b, ...given({ values: options.values }) }, context),
          renderDiff,
          ({ equal }) => judge(equal),
        ),
      ),
};
