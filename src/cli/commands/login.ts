import { Option } from '@commander-js/extra-typings';
import type { CommandModule } from '../command-module.js';
import { readPassword, readUsername } from '../ask-login.js';
import { usageError } from '../errors.js';
import { renderLogin } from '../render/login.js';

export const login: CommandModule = {
  examples: [
    ['Be asked for user and password', 'modelport login registry.example.com'],
    ['In a script', 'modelport login registry.example.com -u ci --password-stdin < token.txt'],
  ],
  usesRegistries: 'without-names',
  define: (command, cli) =>
    command
      .argument('<host>', 'registry, HOST[:PORT]')
      .option('-u, --username <name>', 'user of the registry')
      .option('--password-stdin', 'read the password, or an access token, from standard input')
      .addOption(new Option('-p, --password <word>', 'refused: see --password-stdin').hideHelp().argParser(refusePassword))
      .action(async (host, options) => {
        const username = await readUsername(cli.io, options.username);
        const password = await readPassword(cli.io, options.passwordStdin === true);
        await cli.run(options, (ops, context) => ops.login({ host, username, password }, context), renderLogin);
      }),
};

/** What other tools take, and everybody on the machine can read while they run. */
function refusePassword(): never {
  throw usageError(
    'Cannot take a password from the command line: everybody on this machine could read it',
    'Add --password-stdin and write it to standard input',
  );
}
