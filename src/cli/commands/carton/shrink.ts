import { collect, given, locationHelp, sourceArgument, targetArgument } from '../../arguments.js';
import type { CommandModule } from '../../command-module.js';
import { renderShrink } from '../../render/carton/shrink.js';

export const shrink: CommandModule = {
  examples: [
    [
      'Leave out what this URL serves; it is fetched once, to know its hash',
      'modelport carton shrink m.carton small.carton --link https://example.com/model.onnx',
    ],
    [
      'With the hash known, and a second place to fetch it from',
      'modelport carton shrink m.carton small.carton --link SHA256=https://a.example/f --link SHA256=https://b.example/f',
    ],
    ['Leave out what a model repository holds', 'modelport carton shrink m.carton small.carton --hf org/model@main'],
  ],
  usesRegistries: 'with-names',
  define: (command, cli) =>
    command
      .argument('<source>', locationHelp, sourceArgument)
      .argument('<destination>', 'FILE.carton, or a name', targetArgument)
      .option('--link <url>', 'URL or SHA256=URL (repeatable)', collect)
      .option('--hf <repository>', 'ORG/REPO[@REVISION] at Hugging Face (repeatable)', collect)
      .action((source, destination, options) => {
        const wanted = { source, destination, ...given({ links: options.link, hub: options.hf }) };
        return cli.run(options, (ops, context) => ops.shrinkCartonFile(wanted, context), renderShrink);
      }),
};
