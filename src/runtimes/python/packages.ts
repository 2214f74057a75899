import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeForDisplay, isSystemError, toIoError } from '../../bytes/index.js';
import { createError, defaultLimits, type Finding, type Limits } from '../../core/index.js';
import type { Interpreter } from './interpreter.js';
import { parseLock, type Wheel } from './lock.js';

/** What has to be installed before a model runs. */
export interface Packages {
  /** What the environment depends on, besides the interpreter. */
  readonly key: string;
  readonly wheels: readonly Wheel[];
  /** Lines for pip, each with a hash. */
  readonly requirements: readonly string[];
  readonly bringsNumpy: boolean;
  readonly findings: readonly Finding[];
}

export const lockName = '.carton/carton.lock';
const requirementsName = 'requirements.txt';

/** The wheels of the lock file that are meant for this interpreter; without a lock file the requirements, when each has a hash. */
export async function readPackages(folder: string, interpreter: Interpreter, location: string, limits: Limits = defaultLimits): Promise<Packages> {
  const lock = await readIfThere(join(folder, lockName), limits);
  if (lock !== undefined) return packagesOfLock(lock, interpreter, location, limits);
  const text = await readIfThere(join(folder, requirementsName), limits);
  const lines = text === undefined ? [] : parseRequirements(text);
  const isHashed = lines.every((line) => !line.startsWith('-') && /\s--hash=sha256:[0-9a-f]{64}\b/.test(line));
  if (isHashed) {
    return { key: lines.join('\n'), wheels: [], requirements: lines, bringsNumpy: lines.some((line) => /^numpy\b/i.test(line)), findings: [] };
  }
  const finding: Finding = {
    level: 'warning',
    code: 'runtime/not-installed',
    message: `Nothing of ${requirementsName} is installed: it does not give a hash for everything that it names`,
    where: requirementsName,
    hint: 'Pin it with hashes: pip-compile --generate-hashes',
  };
  return { key: '', wheels: [], requirements: [], bringsNumpy: false, findings: [finding] };
}

function packagesOfLock(text: string, { markers, version }: Interpreter, location: string, limits: Limits): Packages {
  const entries = parseLock(text, lockName, limits);
  const fitting = entries.find((entry) => Object.entries(entry.markers).every(([name, value]) => markers[name] === value));
  if (fitting === undefined && entries.length > 0) {
    const made = entries.map((entry) => Object.values(entry.markers).join(' ')).join('; ');
    throw createError('runtime/not-available', {
      message: `Cannot run ${JSON.stringify(location)}: its lock file is not made for Python ${version} on this machine`,
      hint: `It is made for: ${escapeForDisplay(made)}. Choose a Python by MODELPORT_PYTHON, or lock the model again`,
      where: lockName,
    });
  }
  const wheels = fitting?.wheels ?? [];
  return { key: text, wheels, requirements: [], bringsNumpy: wheels.some(({ fileName }) => /^numpy-/i.test(fileName)), findings: [] };
}

/** Logical lines, without comments. (pip, "Requirements File Format") */
function parseRequirements(text: string): readonly string[] {
  const logical = text.replaceAll(/\\\r?\n/g, ' ').split(/\r?\n/);
  return logical.map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== '');
}

async function readIfThere(path: string, limits: Limits): Promise<string | undefined> {
  try {
    const bytes = await readFile(path);
    if (bytes.byteLength <= limits.configBytes) return bytes.toString();
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw toIoError(error, 'read', path);
  }
  throw createError('bytes/limit', { message: `Cannot read "${path}": it is larger than ${limits.configBytes} bytes`, where: path });
}
