import { given, sourceArgument } from '../arguments.js';
import { askYesNo } from '../ask.js';
import type { Cli, Ops } from '../cli.js';
import type { CommandModule } from '../command-module.js';
import { isToolkitError } from '../../core/index.js';
import type { InitResult } from '../../ops/index.js';
import { write } from '../io.js';
import { renderInit } from '../render/init.js';

export const init: CommandModule = {
  examples: [
    ['Describe the model of a folder', 'modelport init ./digits'],
    ['Only look at what would be written', 'modelport init ./digits -o -'],
  ],
  define: (command, cli) =>
    command
      .argument('[dir]', 'folder with the model', sourceArgument, '.')
      .option('-o, --output <file>', 'write here instead of DIR/modelport.toml; - is standard output')
      .option('-f, --force', 'replace a file that exists')
      .option('-y, --yes', 'answer every question with yes')
      .action((dir, { force, yes, output, ...options }) =>
        cli.run(
          options,
          async (ops, context) => {
            const call = (replace: boolean | undefined) => ops.init({ dir, ...given({ force: replace, output }) }, context);
            const result = await orAsk(call, force ?? yes, cli);
            if (result.path === null && options.json !== true) await writeText(result.text, cli, ops);
            return result;
          },
          renderInit,
        ),
      ),
};

/** A file that is in the way may be replaced when the person at the terminal says so. */
async function orAsk(call: (replace: boolean | undefined) => Promise<InitResult>, force: boolean | undefined, { io }: Cli): Promise<InitResult> {
  try {
    return await call(force);
  } catch (error) {
    if (!isToolkitError(error, 'buildfile/exists') || !(await askYesNo(io, 'The file exists already. Replace it?'))) throw error;
    return await call(true);
  }
}

/** Exact in a pipe; at a terminal nothing in it can move the cursor. */
function writeText(text: string, { io }: Cli, ops: Ops): Promise<void> {
  return write(io.stdout, io.stdout.isTTY === true ? text.split('\n').map(ops.escapeForDisplay).join('\n') : text);
}
