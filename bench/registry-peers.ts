/** What other tools do with a registry, without TLS. `home` is where they look for logins and keep what they keep. */
import { relative } from 'node:path';
import type { Data } from './data.js';
import type { Command } from './measure.js';
import { modctl } from './peers.js';
import { toScript } from './script.js';

/** One layer a file, as modelport does it. */
export function orasPushFiles(program: string, home: string, { dir, files }: Data, name: string): Command {
  const args = ['push', '--no-tty', '--plain-http', name, ...files.map((file) => relative(dir, file))];
  return { program, args, cwd: dir, env: { HOME: home } };
}

export function orasPull(program: string, home: string, name: string, dir: string): Command {
  return { program, args: ['pull', '--no-tty', '--plain-http', '-o', dir, name], env: { HOME: home } };
}

export function orasCopy(program: string, home: string, name: string, layout: string): Command {
  return { program, args: ['cp', '--no-tty', '--from-plain-http', '--to-oci-layout', name, `${layout}:v1`], env: { HOME: home } };
}

export function skopeoCopy(program: string, home: string, name: string, layout: string): Command {
  const args = ['--insecure-policy', 'copy', '--quiet', '--src-tls-verify=false', `docker://${name}`, `oci:${layout}:v1`];
  return { program, args, env: { HOME: home } };
}

export function cranePull(program: string, home: string, name: string, layout: string): Command {
  return { program, args: ['pull', '--format', 'oci', name, layout], env: { HOME: home } };
}

export function modctlBuildAs(program: string, home: string, name: string, modelfile: string, dir: string): Command {
  return modctl(program, home, ['build', '-t', name, '-f', modelfile, dir]);
}

export function modctlPush(program: string, home: string, name: string): Command {
  return modctl(program, home, ['push', '--plain-http', name]);
}

/** It pushes only what it has built into its storage. */
export function modctlBuildAndPush(program: string, home: string, name: string, modelfile: string, dir: string): Command {
  const { args: folders, env } = modctl(program, home, []);
  const script = 'name=$1 modelfile=$2 dir=$3; shift 3; "$@" build -t "$name" -f "$modelfile" "$dir" && "$@" push --plain-http "$name"';
  return { ...toScript(script, [name, modelfile, dir, program, ...folders]), ...(env === undefined ? {} : { env }) };
}

export function modctlPull(program: string, home: string, name: string, dir: string): Command {
  return modctl(program, home, ['pull', '--plain-http', '--extract-dir', dir, name]);
}
