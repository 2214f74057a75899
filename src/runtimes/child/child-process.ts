import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { awaitAtMost } from './await-at-most.js';
import { LineSplitter, LogTail } from './log-tail.js';
import { killGroup, killGroupAtExit } from './process-group.js';

/** A program with its whole environment; `cwd` is absolute. */
export interface ChildProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How a process ended; `error` when it could not even be started. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: Error;
}

/** A process in a group of its own, with a channel on the file descriptors 3 (to it) and 4 (from it). */
export interface RunningChild {
  readonly toChild: Writable;
  readonly fromChild: Readable;
  readonly log: LogTail;
  /** Undefined while it runs. */
  readonly exit: () => ChildExit | undefined;
  /** Resolves when it has ended, all of its group is killed and its output is read. Never rejects. */
  readonly ended: Promise<ChildExit>;
  /** At once, with everything that it started. */
  readonly kill: () => void;
}

/** A process that went into another group may hold the pipes open for ever. */
const drainMs = 1000;

export function startChild(program: ChildProgram, onLine: (line: string) => void): RunningChild {
  const child = spawn(program.command, program.args, {
    cwd: program.cwd,
    env: program.env,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const forget = killGroupAtExit(child);
  const log = new LogTail();
  for (const stream of [child.stdout, child.stderr]) keepLog(stream as Readable, log, onLine);
  const toChild = child.stdio[3] as Writable;
  const fromChild = child.stdio[4] as Readable;
  // A child that goes away while it is written to: whoever writes is told by the callback of the write.
  toChild.on('error', () => {});
  fromChild.on('error', () => {});
  let exit: ChildExit | undefined;
  const ended = watch(child, (found) => (exit = found)).finally(forget);
  return { toChild, fromChild, log, exit: () => exit, ended, kill: () => killGroup(child) };
}

function keepLog(stream: Readable, log: LogTail, onLine: (line: string) => void): void {
  const lines = new LineSplitter(onLine);
  stream.on('data', (chunk: Buffer) => {
    log.add(chunk);
    lines.add(chunk);
  });
  stream.on('end', () => lines.end());
  stream.on('error', () => {});
}

async function watch(child: ChildProcess, onExit: (exit: ChildExit) => void): Promise<ChildExit> {
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const exit = await new Promise<ChildExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });
  onExit(exit);
  killGroup(child);
  await awaitAtMost(closed, drainMs);
  for (const stream of child.stdio) stream?.destroy();
  return exit;
}
