import type { CommandModule } from '../command-module.js';
import { readPassword, readUsername } from '../ask-login.js';
import { renderLogin } from '../render/login.js';

export const login: CommandModule = {
  examples: [
    ['Be asked for user and password', 'modelport login registry.example.com'],
    ['In a script', 'modelport login registry.example.com -u ci --password-stdin < token.txt'],
  ],
  usesRegistries: true,
  define: (command, cli) =>
    command
      .argument('<host>', 'registry, HOST[:PORT]')
      .option('-u, --username <name>', 'user of the registry')
      .option('--password-stdin', 'read the password, or an access token, from standard input')
      .action(async (host, options) => {
        const username = await readUsername(cli.io, options.username);
        const password = await readPassword(cli.io, options.passwordStdin === true);
        await cli.run(options, (ops, context) => ops.login({ host, username, password }, context), renderLogin);
      }),
};
