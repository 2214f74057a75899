import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';
import { isJsonObject } from '../../core/index.js';

/** Name of the optional peer. A variable where it is imported, so that neither bundling nor the compiler asks for it. */
export const engineName = 'onnxruntime-node';

/** Names a folder whose node_modules holds the engine, or the engine's own folder. It comes before what is installed beside modelport. */
export const engineVariable = 'MODELPORT_ONNXRUNTIME';

export const installHint =
  `run "npm install -g ${engineName}" (with ONNXRUNTIME_NODE_INSTALL=skip in the environment it fetches nothing for GPUs), ` +
  `or name the folder that holds it in ${engineVariable}`;

export type FoundEngine =
  | { readonly kind: 'found'; readonly folder: string; readonly version: string }
  | { readonly kind: 'missing'; readonly reason: string; readonly hint: string };

/** Looks where modelport is installed and where the variable says, never in the current directory. Reads a package.json and runs nothing. */
export function findEngine(env: Readonly<Record<string, string | undefined>>, home: string = import.meta.url): FoundEngine {
  const named = env[engineVariable];
  if (named !== undefined && named !== '') return findNamed(named);
  return (
    readEngine(resolveBeside(home)) ?? {
      kind: 'missing',
      reason: `${engineName} is not installed beside modelport`,
      hint: installHint,
    }
  );
}

function findNamed(folder: string): FoundEngine {
  const missing = (problem: string): FoundEngine => ({
    kind: 'missing',
    reason: `${engineVariable} names ${JSON.stringify(folder)}, which ${problem}`,
    hint: `set it to a folder whose node_modules holds ${engineName}, or to the folder of that package; or ${installHint}`,
  });
  if (!isAbsolute(folder)) return missing('is not an absolute path');
  if (!existsSync(folder)) return missing('does not exist');
  const found = readEngine(join(folder, 'node_modules', engineName)) ?? readEngine(folder);
  return found ?? missing(`holds no ${engineName}`);
}

/** The folder of the package as Node finds it from `home`, a file URL or path. */
function resolveBeside(home: string): string | undefined {
  try {
    return dirname(createRequire(home).resolve(`${engineName}/package.json`));
  } catch {
    return undefined;
  }
}

function readEngine(folder: string | undefined): FoundEngine | undefined {
  if (folder === undefined) return undefined;
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (!isJsonObject(manifest) || manifest['name'] !== engineName || typeof manifest['version'] !== 'string') return undefined;
    return { kind: 'found', folder, version: manifest['version'] };
  } catch {
    return undefined;
  }
}
