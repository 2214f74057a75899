import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTool, orThrow } from './tools.js';
import { runBeside } from './registry.js';
import { until } from './until.js';

/** Nothing that needs a cluster, a network or a kernel module: images alone. */
const disabled = [
  'io.containerd.grpc.v1.cri',
  'io.containerd.internal.v1.opt',
  ...['aufs', 'btrfs', 'devmapper', 'zfs'].map((name) => `io.containerd.snapshotter.v1.${name}`),
];

/** A containerd with content and state of its own; snapshots are plain folders, so that it runs inside containers too. Close it. */
export class Containerd {
  readonly #child: ChildProcess;
  readonly #socket: string;

  private constructor(child: ChildProcess, socket: string) {
    this.#child = child;
    this.#socket = socket;
  }

  static async start(folder: string): Promise<Containerd> {
    mkdirSync(folder);
    const [config, socket, log] = [join(folder, 'config.toml'), join(folder, 'socket'), join(folder, 'log.txt')];
    writeFileSync(config, `version = 2\ndisabled_plugins = ${JSON.stringify(disabled)}\n`);
    const args = ['--config', config, '--root', join(folder, 'root'), '--state', join(folder, 'state'), '--address', socket];
    const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@" 2>>"$LOG"', findTool('containerd'), ...args], {
      stdio: 'ignore',
      env: { ...process.env, LOG: log },
    });
    await until('containerd', () => {
      if (child.exitCode !== null) throw new Error(`Cannot start containerd:\n${readFileSync(log, 'utf8')}`);
      return existsSync(socket);
    });
    return new Containerd(child, socket);
  }

  /** Runs `ctr`; returns its stdout. */
  async ctr(...args: readonly string[]): Promise<string> {
    return orThrow('ctr', args, await runBeside(findTool('ctr'), ['--address', this.#socket, ...args]));
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
