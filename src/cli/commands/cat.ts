import { locationHelp, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { usageError } from '../errors.js';
import { write } from '../io.js';
import { renderNothing } from '../render/rendered.js';

export const cat: CommandModule = {
  examples: [
    ['Read a file of a package', 'modelport cat demo/digits:v1 README.md'],
    ['Get one file out', 'modelport cat digits.tar model.safetensors > model.safetensors'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<location>', locationHelp, sourceArgument)
      .argument('<path>', 'file of the package, as `modelport ls` names it')
      .action((location, path, options) => {
        if (options.json === true)
          throw usageError(
            'Cannot print a file as JSON: cat writes its bytes as they are',
            'Leave --json out; `modelport ls --json` has the facts about a file',
          );
        return cli.run(
          options,
          async (ops, context) => {
            const file = await ops.cat({ location, path }, context);
            for await (const chunk of await file.open()) await write(cli.io.stdout, chunk);
          },
          renderNothing,
        );
      }),
};
