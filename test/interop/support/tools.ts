/**
 * Runs the programs that modelport must get along with. One that is missing fails the suite: run .ci/install-peers.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export const tools = [
  'skopeo',
  'umoci',
  'podman',
  'runc',
  'containerd',
  'ctr',
  'oras',
  'crane',
  'modctl',
  'docker-registry',
  'htpasswd',
  'curl',
  'openssl',
  'tar',
  'gzip',
  'zstd',
  'zip',
  'unzip',
  'python3',
  'busybox',
] as const;

export type Tool = (typeof tools)[number];

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
}

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'modelport-interop');

/** What .ci/install-peers brought beside programs: a Python with NumPy and the library of Carton's author, and one of the system with torch. */
export const pythons = { numpy: join(cache, 'python/bin/python'), torch: '/usr/bin/python3' } as const;

/** The folder whose node_modules holds onnxruntime-node. */
export const onnxruntime: string = join(cache, 'onnxruntime');

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

export function execute(program: string, args: readonly string[], { cwd, env = {}, input }: Surroundings): Outcome {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    input: input ?? '',
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

export function orThrow(program: string, args: readonly string[], { code, stdout, stderr }: Outcome): string {
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: exit status ${code}\n${stdout}${stderr}`);
  return stdout;
}
