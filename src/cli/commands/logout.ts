import type { CommandModule } from '../command-module.js';
import { renderLogout } from '../render/login.js';

export const logout: CommandModule = {
  examples: [['Forget the login', 'modelport logout registry.example.com']],
  define: (command, cli) =>
    command
      .argument('<host>', 'registry, HOST[:PORT]')
      .action((host, options) => cli.run(options, (ops, context) => ops.logout({ host }, context), renderLogout)),
};
