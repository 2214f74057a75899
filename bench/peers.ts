/** Other tools, where they are installed (.ci/install-peers builds them). Each gets a home of its own and leaves nothing behind. */
import { accessSync, constants, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import type { Data } from './data.js';
import type { Command } from './measure.js';

/** What .ci/install-peers built comes before what the machine has. */
export function findPeer(name: string): string | undefined {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const folders = [join(cache, 'modelport-interop/bin'), ...(process.env['PATH'] ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** modctl with everything that it keeps in `home`. */
export function modctl(program: string, home: string, args: readonly string[]): Command {
  const folders = ['--storage-dir', join(home, 'storage'), '--log-dir', join(home, 'logs'), '--no-progress'];
  return { program, args: [...folders, ...args], env: { HOME: home } };
}

export function modctlBuild(program: string, home: string, modelfile: string, dir: string): Command {
  return modctl(program, home, ['build', '-t', 'example.com/bench/model:v1', '-f', modelfile, dir]);
}

/** `modctl modelfile generate` refuses more than 2048 files, so this one is written by hand. */
export function writeModelfile(file: string, { dir, files }: Data): void {
  const lines = files.map((path) => `DOC ${relative(dir, path)}\n`);
  writeFileSync(file, `NAME bench\n${lines.join('')}`);
}

/** oras takes paths below its working folder only. */
export function orasPush(program: string, layout: string, dir: string): Command {
  const cwd = dirname(dir);
  const args = ['push', '--no-tty', '--oci-layout', `${relative(cwd, layout)}:v1`, relative(cwd, dir)];
  return { program, args, cwd, env: { HOME: cwd } };
}
