import { Option } from '@commander-js/extra-typings';
import { collect, given, locationHelp, sourceArgument, targetArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderRun } from '../render/run.js';
import { addSessionOptions, toSession } from '../session-options.js';

const keeping = 'What is kept of it:';
const keptWhere = 'the new carton, a file or a name; a folder keeps it in its modelport.toml';

export const run: CommandModule = {
  examples: [
    ['One inference, inputs by name', 'modelport run digits.carton -i pixels=@image.npy'],
    ['Inputs in declared order, the answer as files', "modelport run digits.carton '[[0.1, 0.9]]' -o ./answer"],
    ['A folder that is no package yet', 'modelport run ./model --runner python --framework-version ">=3.8" -i x=[1,2] --allow-code'],
    ['Keep what went in and came out as a self test, in a new package', "modelport run a.carton '[[0.1, 0.9]]' --record 'two pixels' --to b.carton"],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    addSessionOptions(command)
      .argument('<location>', locationHelp, sourceArgument)
      .argument('[values...]', '@file.npy, @file.json, @file.bin or JSON, in declared order')
      .option('-i, --input <name=value>', 'one input by name (repeatable)', collect)
      .option('-o, --output <dir>', 'write each output to a file of its own: .npy, or .json for text', targetArgument)
      .addOption(new Option('--record <name>', 'keep inputs and outputs as a self test of this name').helpGroup(keeping))
      .addOption(new Option('--as <kind>', 'as what they are kept').choices(['self-test', 'example']).helpGroup(keeping))
      .addOption(new Option('--to <place>', keptWhere).argParser(targetArgument).helpGroup(keeping))
      .action((location, values, options) => {
        const { input, output, record, as: recordAs, to } = options;
        const wanted = { location, values, ...given({ inputs: input, output, record, recordAs, to }), ...toSession(options, cli.io) };
        return cli.run(options, (ops, context) => ops.run(wanted, context), renderRun);
      }),
};
