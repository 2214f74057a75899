import { collect, given, sourceArgument, targetArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { usageError } from '../errors.js';
import { renderPack } from '../render/pack.js';

export const pack: CommandModule = {
  examples: [
    ['Keep a folder as a package in the local store', 'modelport pack ./digits -t demo/digits:v1'],
    ['Write it to one file, an OCI archive', 'modelport pack ./digits -o digits.tar'],
    ['Documents compressed, weights as they are', 'modelport pack ./digits -t demo/digits:v1 --layers doc=tar+gzip --layers weights=raw'],
    ['A carton, from modelport.toml or a carton.toml beside the model', 'modelport pack ./digits --format carton -o digits.carton'],
    ['A carton of a bare folder', 'modelport pack ./model --format carton --runner python --framework-version ">=3.8" -o model.carton'],
    ['State what the files do not say', 'modelport pack ./digits -t demo/digits:v1 --set package.licenses=Apache-2.0'],
  ],
  define: (command, cli) =>
    command
      .argument('[dir]', 'folder with the model', sourceArgument, '.')
      .option('-t, --tag <name>', 'keep the package in the local store under this name')
      .option('-o, --output <place>', 'write it to FILE.tar, oci-archive:FILE[:TAG] or oci:DIR:TAG; a carton to any file', targetArgument)
      .option('--format <format>', 'modelpack or carton', 'modelpack')
      .option('--vintage <vintage>', 'edition of the format: cncf (default), cnai, draft-2024')
      .option('--layers <encoding>', 'raw, tar, tar+gzip or tar+zstd, or ROLE=ENCODING (repeatable)', collect)
      .option('--hybrid', 'add a sibling that looks like a container image, as TAG-image')
      .option('--runner <name>', "of a carton: noop, python, torchscript, onnx, or another's")
      .option('--framework-version <requirement>', 'of a carton: versions of the framework, such as ">=1.14, <2"')
      .option('--opt <name=value>', 'of a carton: option of the runner (repeatable)', collect)
      .option('--compress', 'of a carton: the files of the model with zstd')
      .option('-f, --file <buildfile>', 'modelport.toml, Modelfile or Kitfile to use')
      .option('--set <key=value>', 'a value of modelport.toml (repeatable)', collect)
      .action((dir, options) => {
        const { tag, output, vintage, layers, hybrid, file, set, runner, frameworkVersion, opt, compress } = options;
        if (tag === undefined && output === undefined) {
          throw usageError(
            'Cannot pack: it is not said where the package goes',
            'Add -t NAME to keep it in the local store, or -o FILE.tar to write it to a file',
          );
        }
        const ofCarton = { runner, frameworkVersion, opts: opt, compress };
        const wanted = given({ name: tag, output, vintage, layers, hybrid, file, set, ...ofCarton });
        return cli.run(options, (ops, context) => ops.pack({ dir, format: options.format, ...wanted }, context), renderPack);
      }),
};
