import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withLock } from '../../bytes/index.js';
import { createError } from '../../core/index.js';
import { childEnvironment } from '../child/child-environment.js';
import { runProgram } from '../child/run-program.js';
import type { EnvironmentRequest } from './environment-request.js';
import { installPackages, listForPip } from './install-packages.js';
import type { Interpreter } from './interpreter.js';
import type { Packages } from './packages.js';

/** Stands in an environment that is whole. */
const readyName = '.modelport-ready';

/**
 * The interpreter of a virtual environment with these packages alone, below `home`; made when it is needed for the first time, by one process at a
 * time. What a crash left half made is made anew.
 */
export async function openEnvironment(interpreter: Interpreter, packages: Packages, request: EnvironmentRequest): Promise<string> {
  const root = join(request.home, 'python');
  const folder = join(root, toKey(interpreter, packages));
  const python = join(folder, process.platform === 'win32' ? 'Scripts/python.exe' : 'bin/python');
  if (existsSync(join(folder, readyName))) return python;
  mkdirSync(root, { recursive: true });
  const make = async () => {
    if (existsSync(join(folder, readyName))) return;
    const lines = await listForPip(packages, request);
    rmSync(folder, { recursive: true, force: true });
    try {
      await makeEnvironment(folder, interpreter, lines.length > 0, request);
      if (lines.length > 0) await installPackages(python, lines, request);
      writeFileSync(join(folder, readyName), '');
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  };
  await withLock(`${folder}.lock`, make, { long: true, timeoutMs: request.timeoutMs, purpose: 'make a Python environment', signal: request.signal });
  return python;
}

function toKey({ path, version }: Interpreter, { key }: Packages): string {
  return createHash('sha256')
    .update(JSON.stringify([path, version, key]))
    .digest('hex')
    .slice(0, 32);
}

async function makeEnvironment(folder: string, { path }: Interpreter, withPip: boolean, request: EnvironmentRequest): Promise<void> {
  // Without pip it takes a tenth of the time, and needs nothing that distributions leave out.
  const program = {
    command: path,
    args: ['-I', '-m', 'venv', ...(withPip ? [] : ['--without-pip']), folder],
    cwd: dirname(folder),
    env: childEnvironment(request.env, 'cpu'),
  };
  const { exit, isLate, log } = await runProgram(program, request.timeoutMs, request.signal);
  if (isLate)
    throw createError('runtime/timeout', { message: `Cannot make a Python environment: it takes longer than ${Math.round(request.timeoutMs)} ms` });
  if (exit.code === 0) return;
  throw createError('runtime/not-available', {
    message: `Cannot make a Python environment for ${JSON.stringify(request.location)}: "${path} -m venv" ended with exit code ${exit.code ?? 'none'}`,
    hint: `Install the modules venv and ensurepip of this Python (python3-venv). It says: ${log.trim().slice(-1000)}`,
    where: path,
  });
}
