import { Argument } from '@commander-js/extra-typings';
import type { CommandModule } from '../command-module.js';
import { completionScripts, shells } from '../completion-scripts.js';
import { toJson } from '../display.js';
import { write } from '../io.js';

/** Needs no verb; the scripts themselves ask the program at every press of Tab. */
export const completion: CommandModule = {
  examples: [
    ['For this bash, and for every new one', "source <(modelport completion bash); echo 'source <(modelport completion bash)' >> ~/.bashrc"],
    ['For zsh', "echo 'source <(modelport completion zsh)' >> ~/.zshrc"],
    ['For fish', 'modelport completion fish > ~/.config/fish/completions/modelport.fish'],
  ],
  define: (command, { io }) =>
    command.addArgument(new Argument('<shell>', 'shell to write it for').choices(shells)).action((shell, { json }) => {
      const script = completionScripts[shell];
      return write(io.stdout, json === true ? `${toJson({ shell, script }, 2)}\n` : script);
    }),
};
