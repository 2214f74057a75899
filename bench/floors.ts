/**
 * What the machine can do: the least work that a step could be, done by the plainest programs. Paths are given to scripts as
 * arguments, so nothing is quoted.
 */
import type { Command } from './measure.js';

/** Their names in the tables. */
export const floors = {
  oneCore: 'openssl dgst, one core',
  twoCores: 'openssl dgst, two cores',
  copy: 'cp -r, then sync',
  hashBesideCopy: 'hash beside cp, then sync',
  tar: 'tar c, then openssl dgst',
  untar: 'tar x',
  node: 'node -e 0',
} as const;

export function hashOnOneCore(files: readonly string[]): Command {
  return { program: 'openssl', args: ['dgst', '-sha256', ...files] };
}

/** Two processes at a time, each with the next two files. */
export function hashOnTwoCores(files: readonly string[]): Command {
  return toScript(`printf '%s\\0' "$@" | xargs -0 -n 2 -P 2 openssl dgst -sha256`, files);
}

/** A folder without subfolders. Only the copy is synced, because others may be writing to the same disk. */
export function copyThenSync(from: string, to: string): Command {
  return toScript('cp -r "$1" "$2" && sync "$2"/*', [from, to]);
}

/** One core hashes while the other copies: what a pack that keeps the bytes cannot do without. */
export function hashBesideCopy(files: readonly string[], from: string, to: string): Command {
  const script = 'from=$1 to=$2; shift 2; openssl dgst -sha256 "$@" & cp -r "$from" "$to" && wait $! && sync "$to"/*';
  return toScript(script, [from, to, ...files]);
}

export function tarThenHash(dir: string, file: string): Command {
  return toScript('tar -cf "$2" -C "$1" . && openssl dgst -sha256 "$2"', [dir, file]);
}

export function untar(file: string, dir: string): Command {
  return toScript('mkdir "$2" && tar -xf "$1" -C "$2"', [file, dir]);
}

/** The least that a Node program can be. */
export const nodeAlone: Command = { program: process.execPath, args: ['-e', '0'] };

function toScript(script: string, args: readonly string[]): Command {
  return { program: 'sh', args: ['-c', script, 'sh', ...args] };
}
