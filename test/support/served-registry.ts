import { type ChildProcess } from 'node:child_process';
import { type CliEnded, finishCli, startCli, type Surroundings } from './cli-process.js';

/** `modelport registry serve` as a process. */
export interface ServedRegistry {
  readonly child: ChildProcess;
  /** The document that it printed. */
  readonly result: {
    readonly address: string;
    readonly url: string;
    readonly dir: string;
    readonly repository: string | null;
    readonly readOnly: boolean;
    readonly mirror: string | null;
    readonly auth: string;
  };
  /** When it is over, by itself or by a signal. */
  readonly ended: Promise<CliEnded>;
  readonly stop: (signal?: NodeJS.Signals) => Promise<CliEnded>;
}

/** Resolves once it has said where it listens; on a free port unless `args` say another. Throws what it said when it ended before. */
export async function startServedRegistry(args: readonly string[], surroundings: Surroundings): Promise<ServedRegistry> {
  const where = args.includes('--listen') ? [] : ['--listen', '127.0.0.1:0'];
  const child = startCli(['registry', 'serve', '--json', ...where, ...args], surroundings);
  const ended = finishCli(child);
  const result = await Promise.race([readDocument(child), ended.then(({ stdout, stderr }) => Promise.reject(new Error(stdout + stderr)))]);
  return {
    child,
    result: result as ServedRegistry['result'],
    ended,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

/** The first whole document of standard output: one that ends a line with its closing brace. */
function readDocument({ stdout }: ChildProcess): Promise<unknown> {
  let text = '';
  return new Promise((resolve) => {
    stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (/^}$/m.test(text)) resolve(JSON.parse(text));
    });
  });
}
