import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findTool, orThrow, type Outcome, run, type Surroundings } from './tools.js';

/**
 * podman with images and state of its own, as it runs inside containers and on hosts with hybrid cgroups too: runc, no limits that
 * would need a capability, and a storage driver that needs no mount.
 */
export class Podman {
  readonly #folder: string;
  readonly #global: readonly string[];
  readonly #env: Readonly<Record<string, string>>;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    const config = join(folder, 'containers.conf');
    writeFileSync(config, '[containers]\ndefault_ulimits = []\n');
    this.#folder = folder;
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

  run(args: readonly string[], { env = {}, ...rest }: Surroundings = {}): Outcome {
    return run('podman', [...this.#global, ...args], { ...rest, env: { ...this.#env, ...env } });
  }

  must(args: readonly string[]): string {
    return orThrow('podman', args, this.run(args));
  }

  /** Gives the name that `podman load` prints. */
  load(archive: string): string {
    const printed = this.must(['load', '--quiet', '--input', archive]);
    return printed.replace(/^Loaded images?:\s*/, '').trim();
  }

  imageId(name: string): string {
    return this.must(['images', '--quiet', '--no-trunc', name]).trim();
  }

  /** What a container sees under the image that is mounted into it, copied out by a process inside; returns the folder. */
  copyOutOfMount(imageId: string, out: string): string {
    const base = join(this.#folder, 'base');
    mkdirSync(join(base, 'bin'), { recursive: true });
    copyFileSync(findTool('busybox'), join(base, 'bin/busybox'));
    mkdirSync(out);
    this.must([
      'run',
      '--rm',
      '--network',
      'none',
      '--mount',
      `type=image,source=${imageId},destination=/model`,
      '--volume',
      `${out}:/out`,
      '--rootfs',
      base,
      '/bin/busybox',
      'cp',
      '-a',
      '/model/.',
      '/out/',
    ]);
    return out;
  }
}
