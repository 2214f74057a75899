import { locationHelp, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderTag } from '../render/tag.js';

export const tag: CommandModule = {
  examples: [
    ['Give a package a second name', 'modelport tag demo/digits:v1 demo/digits:stable'],
    ['The same at a registry', 'modelport tag --remote localhost:5000/digits:v1 localhost:5000/digits:stable'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<source>', locationHelp, sourceArgument)
      .argument('<name>', 'the new name; one that exists is moved')
      .action((source, name, options) => cli.run(options, (ops, context) => ops.tag({ source, name }, context), renderTag)),
};
