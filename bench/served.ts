import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { toDockerConfig } from './docker-registry.js';
import { type Command, toEnvironment } from './measure.js';
import { modelport } from './ours.js';

/** A program that serves a folder as a registry. */
export interface Registry {
  readonly name: 'modelport' | 'docker-registry';
  /** HOST:PORT, the same for each run. */
  readonly host: string;
  /** What starts it on `folder`, which is there. */
  toCommand(folder: string): Command;
}

/** A registry that runs. Close it. */
export interface Served {
  /** From its start to its first answer. */
  readonly startMs: number;
  /** Peak resident memory in bytes; undefined without /proc. */
  readMemory(): number | undefined;
  /** Ends it and removes its folder. */
  close(): Promise<void>;
}

const patienceMs = 20_000;

export function toEmbedded(host: string): Registry {
  const toCommand = (folder: string) => modelport(join(folder, 'home'), ['registry', 'serve', '--dir', join(folder, 'root'), '--listen', host]);
  return { name: 'modelport', host, toCommand };
}

/** `program` is Debian's build of distribution. */
export function toDocker(program: string, host: string): Registry {
  const toCommand = (folder: string) => {
    const config = join(folder, 'config.json');
    writeFileSync(config, JSON.stringify(toDockerConfig(join(folder, 'root'), host, 'error')));
    return { program, args: ['serve', config] };
  };
  return { name: 'docker-registry', host, toCommand };
}

export async function findFreeHost(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return `127.0.0.1:${port}`;
}

/** On one core, where taskset is: the others are left to who asks. */
export function onOneCore({ program, args, ...rest }: Command): Command {
  return { ...rest, program: 'taskset', args: ['-c', '0', program, ...args] };
}

/** In a folder of its own, which is made unless it is there. Resolves with the first answer. */
export async function serve(registry: Registry, folder: string, change: (command: Command) => Command = (command) => command): Promise<Served> {
  mkdirSync(folder, { recursive: true });
  const { program, args, env } = change(registry.toCommand(folder));
  const since = performance.now();
  const child = spawn(program, args, { env: toEnvironment(env), stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()));
  const close = async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitForAnswer(registry, child, since);
    return { startMs: performance.now() - since, readMemory: () => readPeak(child.pid), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function waitForAnswer({ name, host }: Registry, child: ChildProcess, since: number): Promise<void> {
  while (!(await answers(`http://${host}/v2/`))) {
    if (child.exitCode !== null || child.signalCode !== null || performance.now() - since > patienceMs)
      throw new Error(`Cannot start ${name}: it does not answer`);
    await pause(1);
  }
}

/** Whether it is there, and gives what was asked for. */
export function answers(url: string, method = 'GET'): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { method, agent: false }, (response) => response.resume().once('end', () => resolve(response.statusCode === 200)));
    request.once('error', () => resolve(false));
  });
}

function readPeak(pid: number | undefined): number | undefined {
  try {
    const kibibytes = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}
