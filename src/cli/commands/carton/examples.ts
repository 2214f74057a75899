import { given, locationHelp, sourceArgument, targetArgument } from '../../arguments.js';
import type { CommandModule } from '../../command-module.js';
import { renderExamples } from '../../render/carton/examples.js';

export const examples: CommandModule = {
  examples: [
    ['What the package shows of itself', 'modelport carton examples digits.carton'],
    ['The data as files', 'modelport carton examples digits.carton -o ./examples'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<location>', locationHelp, sourceArgument)
      .option('-o, --output <dir>', 'folder for the data: tensors as .npy or .json, other files as they are', targetArgument)
      .action((location, options) =>
        cli.run(options, (ops, context) => ops.listExamples({ location, ...given({ output: options.output }) }, context), renderExamples),
      ),
};
