import { given, locationHelp, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { judge } from '../exit-codes.js';
import { renderValidate } from '../render/validate.js';

export const validate: CommandModule = {
  examples: [
    ['Check a package against its specification', 'modelport validate demo/digits:v1'],
    ['Fail on warnings, too', 'modelport validate --strict digits.tar'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<location>', locationHelp, sourceArgument)
      .option('--strict', 'exit with 1 on warnings, too')
      .option('--links', 'also fetch what is only linked')
      .action((location, options) => {
        const { strict, links } = options;
        return cli.run(
          options,
          (ops, context) => ops.validate({ location, ...given({ strict, links }) }, context),
          renderValidate,
          ({ valid, findings }) => judge(valid, findings, strict),
        );
      }),
};
