import { collect, given, sourceArgument } from '../arguments.js';
import type { CommandModule } from '../command-module.js';
import { renderPush } from '../render/push.js';

export const push: CommandModule = {
  examples: [
    ['Pack a folder and send it, keeping no copy here', 'modelport push ./digits localhost:5000/demo/digits:v1'],
    ['Send a package of the local store under another name', 'modelport push demo/digits:v1 registry.example.com/team/digits:v1'],
    ['Send a carton, so that its versions share what is equal', 'modelport push digits.carton localhost:5000/demo/digits:v1'],
    ['Send it to where its name says', 'modelport push registry.example.com/team/digits:v1'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<source>', 'folder, or a package: name, file, oci:DIR[:TAG]', sourceArgument)
      .argument('[destination]', 'HOST/REPO:TAG; without it the name of the source')
      .option('--referrers', 'also what is attached: signatures, attestations')
      .option('--inflate', 'of a carton: what is linked comes inside')
      .option('--format <format>', 'of a folder: modelpack (default) or carton')
      .option('--vintage <vintage>', 'of a folder: cncf (default), cnai, draft-2024')
      .option('--layers <encoding>', 'of a folder: raw, tar, tar+gzip or tar+zstd, or ROLE=ENCODING (repeatable)', collect)
      .option('--hybrid', 'of a folder: add a sibling that looks like a container image, as TAG-image')
      .option('--runner <name>', 'of a folder as a carton: what runs it')
      .option('--framework-version <requirement>', 'of a folder as a carton: versions of the framework')
      .option('--opt <name=value>', 'of a folder as a carton: option of the runner (repeatable)', collect)
      .option('-f, --file <buildfile>', 'of a folder: modelport.toml, Modelfile or Kitfile to use')
      .option('--set <key=value>', 'of a folder: a value of modelport.toml (repeatable)', collect)
      .action((source, destination, options) => {
        const { referrers, inflate, format, vintage, layers, hybrid, file, set, runner, frameworkVersion, opt } = options;
        const ofFolder = { format, vintage, layers, hybrid, file, set, runner, frameworkVersion, opts: opt };
        const wanted = given({ destination, referrers, inflate, ...ofFolder });
        return cli.run(options, (ops, context) => ops.push({ source, ...wanted }, context), renderPush);
      }),
};
