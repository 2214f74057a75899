#!/usr/bin/env node
import { loadOps } from './cli.js';
import { exitCodes } from './exit-codes.js';
import { isBrokenPipe } from './io.js';
import { report } from './report.js';
import { runCli } from './run-cli.js';

/** The process around `runCli`: signals in, exit status out. */
const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const interrupt = new AbortController();
const words = process.argv.slice(2);
const io = { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, env: process.env, cwd: process.cwd(), signal: interrupt.signal };
let interrupted: number | undefined;
let unwritten = false;

for (const [signal, status] of Object.entries(signals)) {
  process.on(signal, () => {
    if (interrupted !== undefined) process.exit(status);
    interrupted = status;
    interrupt.abort();
  });
}
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    unwritten ||= !isBrokenPipe(error);
  });
}
process.on('uncaughtException', (problem) => {
  void report(problem, { words, called: undefined, io, load: loadOps, exitCode: exitCodes.bug }).then((status) => process.exit(status));
});
process.on('exit', () => {
  if (unwritten && process.exitCode === exitCodes.ok) process.exitCode = exitCodes.world;
});

// Stands only if the work never ends by itself, which would be a bug.
process.exitCode = exitCodes.bug;
const status = await runCli(words, io);
process.exitCode = status === exitCodes.interrupted ? interrupted : status;
