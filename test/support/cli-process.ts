import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));

/** What the program sees of the world. */
export interface Surroundings {
  /** The local store. */
  readonly home: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface CliEnded {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function startCli(args: readonly string[], { home, cwd, env = {} }: Surroundings, stdin: 'ignore' | 'pipe' = 'ignore'): ChildProcess {
  const { PATH = '' } = process.env;
  return spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH, HOME: cwd, MODELPORT_HOME: home, ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  });
}

export function finishCli(child: ChildProcess): Promise<CliEnded> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => err.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }));
  });
}

export function runCli(args: readonly string[], surroundings: Surroundings): Promise<CliEnded> {
  return finishCli(startCli(args, surroundings));
}

/** When a process is to be stopped: `line` of its progress, 0 being its start, and some milliseconds later. */
export interface Moment {
  readonly line: number;
  readonly laterMs: number;
}

/** Sends a signal at the moment; a process that ends before is left in peace. */
export function interruptCli(
  args: readonly string[],
  signal: NodeJS.Signals,
  { line, laterMs }: Moment,
  surroundings: Surroundings,
): Promise<CliEnded> {
  const child = startCli([...args, '--progress', 'json'], surroundings);
  let lines = 0;
  let timer: NodeJS.Timeout | undefined;
  const judge = () => {
    if (lines >= line) timer ??= setTimeout(() => child.kill(signal), laterMs);
  };
  judge();
  child.stderr?.on('data', (chunk: Buffer) => {
    lines += chunk.toString().split('\n').length - 1;
    judge();
  });
  return finishCli(child).finally(() => clearTimeout(timer));
}
