import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** A path as a person wrote it → absolute; `~/` is the home folder. */
export function toAbsolute(path: string, context: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> }): string {
  const home = context.env['HOME'] ?? homedir();
  if (path === '~') return home;
  return path.startsWith('~/') ? join(home, path.slice(2)) : resolve(context.cwd, path);
}
