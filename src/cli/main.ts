#!/usr/bin/env node
import { exitCodes } from './exit-codes.js';
import { isBrokenPipe } from './io.js';
import { runCli } from './run-cli.js';

/** The process around `runCli`: signals in, exit status out. */
const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const interrupt = new AbortController();
let interrupted: number | undefined;

for (const [signal, status] of Object.entries(signals)) {
  process.on(signal, () => {
    if (interrupted !== undefined) process.exit(status);
    interrupted = status;
    interrupt.abort();
  });
}
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (!isBrokenPipe(error)) throw error;
  });
}

// Stands only if the work never ends by itself, which would be a bug.
process.exitCode = exitCodes.bug;
const io = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: process.env, cwd: process.cwd(), signal: interrupt.signal };
const status = await runCli(process.argv.slice(2), io);
process.exitCode = status === exitCodes.interrupted ? interrupted : status;
