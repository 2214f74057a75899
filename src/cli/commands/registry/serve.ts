import { collect, given, targetArgument } from '../../arguments.js';
import type { CommandModule } from '../../command-module.js';
import { usageError } from '../../errors.js';
import { renderServe } from '../../render/registry/serve.js';

export const serve: CommandModule = {
  examples: [
    ['Serve the local store at localhost:5000, for this machine only', 'modelport registry serve'],
    ['Serve a folder of its own', 'modelport registry serve --dir ./registry --listen 127.0.0.1:5001'],
    ['For one test run: any free port, nothing left behind', 'modelport registry serve --tmp --listen 127.0.0.1:0 --port-file port.txt'],
    [
      'For a team, with logins and TLS',
      'modelport registry serve --dir /srv/models --listen 0.0.0.0:5000 --htpasswd users --tls-cert cert.pem --tls-key key.pem',
    ],
    ['Keep what others pull through here', 'modelport registry serve --dir ./mirror --mirror https://ghcr.io'],
  ],
  usesRegistries: 'without-names',
  define: (command, cli) =>
    command
      .option('--dir <dir>', 'OCI layout to serve, made when it does not exist; without it the local store', targetArgument)
      .option('--tmp', 'a folder that is removed at the end')
      .option('--listen <host:port>', 'address to listen on; port 0 is any free one', '127.0.0.1:5000')
      .option('--port-file <file>', 'write HOST:PORT here once it answers, remove it at the end', targetArgument)
      .option('--read-only', 'take nothing from clients; without --mirror the folder is not written to')
      .option('--htpasswd <file>', 'ask for logins of this file (bcrypt: htpasswd -B)')
      .option('--token-file <file>', 'ask for a token of this file: one a line, with pull, push, delete after it')
      .option('--anonymous-pull', 'with logins or tokens: reading needs none')
      .option('--insecure-no-auth', 'listen beyond this machine although nobody has to log in')
      .option('--tls-cert <file>', 'certificate to show (PEM)')
      .option('--tls-key <file>', 'its key (PEM)')
      .option('--mirror <url>', 'fetch what is missing from this registry, and keep it')
      .option('--allow-host <name>', 'also answer to this host name (repeatable)', collect)
      .option('--serve-host <host>', 'also show names of the store that begin with this host (repeatable)', collect)
      .option('--access-log <file>', 'a JSON line for every request; - is standard output')
      .option('--gc-interval <duration>', 'how often what nothing needs any more is deleted, or off', '1h')
      .option('--upload-ttl <duration>', 'how long an upload that stopped is kept', '7d')
      .option('--untagged-ttl <duration>', 'how long a package without a tag is kept; for good without it')
      .action(({ mirror: upstream, ...options }) => {
        // The option of this name that commands with names have may be repeated.
        const mirror = typeof upstream === 'string' ? upstream : undefined;
        const { dir, tmp, listen, portFile, readOnly, htpasswd, tokenFile, anonymousPull, insecureNoAuth, tlsCert, tlsKey } = options;
        const { allowHost, serveHost, accessLog, gcInterval, uploadTtl, untaggedTtl } = options;
        if (accessLog === '-' && options.json === true)
          throw usageError(
            'Cannot write the access log to standard output with --json: the address goes there, as one document',
            'Name a file for the log',
          );
        const log = accessLog === undefined ? {} : { accessLog: accessLog === '-' ? cli.io.stdout : accessLog };
        const who = given({ htpasswd, tokenFile, anonymousPull, insecureNoAuth, tlsCert, tlsKey, allowHosts: allowHost, serveHosts: serveHost });
        const wanted = { ...given({ dir, tmp, portFile, readOnly, mirror, untaggedTtl }), ...who, ...log, listen, gcInterval, uploadTtl };
        return cli.runUntilEnded(options, (ops, context) => ops.serveRegistry(wanted, context), renderServe);
      }),
};
