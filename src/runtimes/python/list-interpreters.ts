import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const names = ['python3', 'python', ...Array.from({ length: 7 }, (_, index) => `python3.${14 - index}`)];

/**
 * Programs that may be a Python, in the order in which they are asked: what MODELPORT_PYTHON names, every python on PATH, and the virtual
 * environments of MODELPORT_PYTHONS (a list like PATH, of their folders). Nothing is run; the same interpreter may come twice.
 */
export function listInterpreters(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const folders = split(env['PATH']).filter((folder) => isAbsolute(folder));
  const named = env['MODELPORT_PYTHON'];
  const first = named === undefined || named === '' ? [] : findNamed(named, folders);
  const onPath = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const environments = split(env['MODELPORT_PYTHONS']).flatMap((folder) => [join(folder, 'bin/python'), join(folder, 'Scripts/python.exe'), folder]);
  return [...new Set([...first, ...onPath, ...environments])].filter(isProgram);
}

function split(list: string | undefined): readonly string[] {
  return (list ?? '').split(delimiter).filter((entry) => entry !== '');
}

function findNamed(named: string, folders: readonly string[]): readonly string[] {
  return named.includes('/') || named.includes('\\') ? [named] : folders.map((folder) => join(folder, named));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
