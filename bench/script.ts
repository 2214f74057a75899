import type { Command } from './measure.js';

/** Paths are given to scripts as arguments, so nothing is quoted. */
export function toScript(script: string, args: readonly string[]): Command {
  return { program: 'sh', args: ['-c', script, 'sh', ...args] };
}

/** What it wrote below `folder` is on the disk when it ends. Only these files are synced, because others may be writing to the same disk. */
export function thenSync(command: Command, folder: string): Command {
  const script = 'folder=$1; shift; "$@" && find "$folder" -type f -exec sync {} +';
  return { ...command, ...toScript(script, [folder, command.program, ...command.args]) };
}
