import { collect, given, locationHelp, sourceArgument, targetArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderUnpack } from '../render/unpack.js';

export const unpack: CommandModule = {
  examples: [
    ['Put the files of a package into a new folder', 'modelport unpack demo/digits:v1 -o ./digits'],
    ['Only the configuration and the tokenizer', "modelport unpack demo/digits:v1 -o ./digits --include '*.json' --include 'tokenizer*'"],
    ['Everything but the weights', "modelport unpack digits.tar -o ./digits --exclude '**/*.safetensors'"],
    ['A tenth copy that takes no space', 'modelport unpack demo/digits:v1 -o ./served --shared'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<location>', locationHelp, sourceArgument)
      .requiredOption('-o, --output <dir>', 'folder for the files; made when it does not exist', targetArgument)
      .option('--include <glob>', 'only files that match (repeatable)', collect)
      .option('--exclude <glob>', 'no files that match (repeatable)', collect)
      .option('-f, --overwrite', 'replace files that exist')
      .option('--shared', 'read-only files that share their bytes with the local store; nothing is written twice')
      .option('--same-owner', 'give the files the user and group numbers of the package')
      .action((location, options) => {
        const { output, include, exclude, overwrite, sameOwner, shared } = options;
        return cli.run(
          options,
          (ops, context) => ops.unpack({ location, output, ...given({ include, exclude, overwrite, sameOwner, shared }) }, context),
          renderUnpack,
        );
      }),
};
