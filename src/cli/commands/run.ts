import { collect, given, locationHelp, sourceArgument, targetArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderRun } from '../render/run.js';
import { addSessionOptions, toSession } from '../session-options.js';

export const run: CommandModule = {
  examples: [
    ['One inference, inputs by name', 'modelport run digits.carton -i pixels=@image.npy'],
    ['Inputs in declared order, the answer as files', "modelport run digits.carton '[[0.1, 0.9]]' -o ./answer"],
    ['A folder that is no package yet', 'modelport run ./model --runner python --framework-version ">=3.8" -i x=[1,2] --allow-code'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    addSessionOptions(command)
      .argument('<location>', locationHelp, sourceArgument)
      .argument('[values...]', '@file.npy, @file.json, @file.bin or JSON, in declared order')
      .option('-i, --input <name=value>', 'one input by name (repeatable)', collect)
      .option('-o, --output <dir>', 'write each output to a file of its own: .npy, or .json for text', targetArgument)
      .action((location, values, options) => {
        const { input, output } = options;
        const wanted = { location, values, ...given({ inputs: input, output }), ...toSession(options, cli.io) };
        return cli.run(options, (ops, context) => ops.run(wanted, context), renderRun);
      }),
};
