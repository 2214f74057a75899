/**
 * Drives the tools that modelport must get along with. A tool that is missing fails the suite: run .ci/install-peers.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const tools = ['skopeo', 'umoci', 'podman', 'runc', 'oras', 'crane', 'modctl'] as const;

export type Tool = (typeof tools)[number];

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'modelport-interop');

/** What .ci/install-peers built comes before what the machine has. */
export function findTool(tool: Tool): string {
  const folders = [join(cache, 'bin'), ...(process.env['PATH'] ?? '').split(delimiter)];
  const found = folders.map((folder) => join(folder, tool)).find(isExecutable);
  if (found === undefined) throw new Error(`Cannot find "${tool}": run .ci/install-peers`);
  return found;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function execute(program: string, args: readonly string[], { cwd, env = {} }: Surroundings): Outcome {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (error !== undefined) throw error;
  return { code: status ?? -1, stdout, stderr };
}

/** Runs a tool to its end, whatever its exit status. */
export function run(tool: Tool, args: readonly string[], surroundings: Surroundings = {}): Outcome {
  return execute(findTool(tool), args, surroundings);
}

/** Runs a tool that has to succeed; returns its stdout. */
export function must(tool: Tool, args: readonly string[], surroundings: Surroundings = {}): string {
  return orThrow(tool, args, run(tool, args, surroundings));
}

function orThrow(program: string, args: readonly string[], { code, stdout, stderr }: Outcome): string {
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: exit status ${code}\n${stdout}${stderr}`);
  return stdout;
}

/** modelport as it is shipped, with a store of its own. */
export class Modelport {
  constructor(readonly home: string) {}

  run(args: readonly string[], surroundings: Surroundings = {}): Outcome {
    const env = { MODELPORT_HOME: this.home, ...surroundings.env };
    return execute(process.execPath, [join(root, 'dist/cli.js'), ...args], { ...surroundings, env });
  }

  must(args: readonly string[], surroundings: Surroundings = {}): string {
    return orThrow('modelport', args, this.run(args, surroundings));
  }

  /** The document that a verb prints with --json. */
  json(args: readonly string[]): unknown {
    return JSON.parse(this.must([...args, '--json']));
  }
}

/**
 * podman with images and state of its own, as it runs inside containers and on hosts with hybrid cgroups too: runc, no limits that
 * would need a capability, and a storage driver that needs no mount.
 */
export class Podman {
  readonly #global: readonly string[];
  readonly #env: Readonly<Record<string, string>>;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    const config = join(folder, 'containers.conf');
    writeFileSync(config, '[containers]\ndefault_ulimits = []\n');
    this.#env = { CONTAINERS_CONF: config };
    this.#global = [
      '--runtime',
      'runc',
      '--root',
      join(folder, 'root'),
      '--runroot',
      join(folder, 'run'),
      '--storage-driver',
      'vfs',
      '--cgroup-manager',
      'cgroupfs',
    ];
  }

  run(args: readonly string[]): Outcome {
    return run('podman', [...this.#global, ...args], { env: this.#env });
  }

  must(args: readonly string[]): string {
    return orThrow('podman', args, this.run(args));
  }
}

/** A temporary folder, gone after the callback. */
export async function withFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'modelport-interop-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
