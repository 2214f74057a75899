import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export interface Command {
  readonly program: string;
  readonly args: readonly string[];
  /** On top of what every command gets, see `toEnvironment`. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** One process from start to end. Seconds, bytes; CPU and memory undefined where /usr/bin/time does not know `-f`. */
export interface Done {
  readonly kind: 'done';
  readonly wall: number;
  /** User and system time, of the processes that it waited for too. */
  readonly cpu: number | undefined;
  /** Peak resident memory of its largest process. */
  readonly rss: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Failed {
  readonly kind: 'failed';
  readonly reason: string;
}

export type Outcome = Done | Failed;

export interface Meter {
  readonly knowsMemory: boolean;
  measure(command: Command): Promise<Outcome>;
  /** The most descriptors open at once, looked up all the while, which costs time: a run of its own. Undefined without /proc. */
  countDescriptors(command: Command): Promise<number | undefined>;
  /** Ends it by SIGKILL, with all its processes, as soon as `isTime`; false when it ended by itself before. */
  kill(command: Command, isTime: () => boolean): Promise<boolean>;
}

const timeProgram = '/usr/bin/time';

/** An aborted signal ends the running command with all its processes and makes the call throw. */
export function createMeter(folder: string, signal: AbortSignal): Meter {
  const knowsMemory = spawnSync(timeProgram, ['-f', '%U %S %M', 'true']).status === 0;
  const notes = join(folder, 'time');
  return {
    knowsMemory,
    measure: async (command) => {
      const timed = { ...command, program: timeProgram, args: ['-f', '%U %S %M', '-o', notes, command.program, ...command.args] };
      const { status, ...ended } = await execute(knowsMemory ? timed : command, signal);
      if (status !== 0) return { kind: 'failed', reason: toReason(status, ended.stderr) };
      return { kind: 'done', ...ended, ...(knowsMemory ? takeUsage(notes) : { cpu: undefined, rss: undefined }) };
    },
    countDescriptors: async (command) => {
      let most: number | undefined;
      await execute(command, signal, (pid) => {
        const count = countOpen(pid);
        if (count !== undefined) most = Math.max(most ?? 0, count);
      });
      return most;
    },
    kill: async (command, isTime) => {
      const run = { isStopped: false };
      const { status } = await execute(command, signal, (_, stop) => {
        if (!isTime()) return;
        run.isStopped = true;
        stop();
      });
      return run.isStopped && status === null;
    },
  };
}

interface Ended {
  readonly status: number | null;
  readonly wall: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** In a process group of its own, so that its children end with it and nothing else does. */
function execute(command: Command, signal: AbortSignal, watch?: (pid: number, stop: () => void) => void): Promise<Ended> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const since = performance.now();
    const child = spawn(command.program, command.args, {
      cwd: command.cwd,
      env: toEnvironment(command.env),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let wall = 0;
    const output = { stdout: '', stderr: '' };
    const stop = () => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
    };
    const timer = watch === undefined ? undefined : setInterval(() => watch(child.pid ?? 0, stop), 1);
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    child.once('exit', () => (wall = (performance.now() - since) / 1000));
    const end = (status: number | null) => {
      clearInterval(timer);
      signal.removeEventListener('abort', stop);
      if (signal.aborted) reject(signal.reason as Error);
      else resolve({ status, wall, ...output });
    };
    child.once('error', ({ message }) => {
      output.stderr += message;
      end(null);
    });
    child.once('close', end);
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** What changes the start of Node, the language of tools or the behaviour of modelport stays outside. */
export function toEnvironment(env: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(NODE_|npm_|MODELPORT_|SOURCE_DATE_EPOCH$)/.test(name));
  return { ...Object.fromEntries(inherited), LC_ALL: 'C', ...env };
}

function takeUsage(notes: string): Pick<Done, 'cpu' | 'rss'> {
  const line = readFileSync(notes, 'utf8').trim().split('\n').at(-1) ?? '';
  rmSync(notes);
  const [user = NaN, system = NaN, kibibytes = NaN] = line.split(' ').map(Number);
  return { cpu: user + system, rss: kibibytes * 1024 };
}

/** Without paths: it may come to stand in a published table. */
function toReason(status: number | null, stderr: string): string {
  const last = stderr.trim().split('\n').at(-1) ?? '';
  return `exit status ${status ?? 'unknown'}: ${last.replaceAll(/\/[^\s"',]+/g, 'PATH').slice(0, 120)}`;
}

function countOpen(pid: number): number | undefined {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return undefined;
  }
}
