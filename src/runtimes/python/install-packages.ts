import { rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { drain, escapeForDisplay, fromFile, verified } from '../../bytes/index.js';
import { createError, parseDigest } from '../../core/index.js';
import { childEnvironment } from '../child/child-environment.js';
import { runProgram } from '../child/run-program.js';
import type { EnvironmentRequest } from './environment-request.js';
import type { Wheel } from './lock.js';
import { lockName, type Packages } from './packages.js';

/** So that a mirror of the user's is used; what is fetched is checked by its hash, wherever it comes from. */
const passedOn = /^((https?|no|all)_proxy|PIP_(INDEX_URL|EXTRA_INDEX_URL|TRUSTED_HOST|CERT|CONFIG_FILE)|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE)$/i;

/**
 * What pip is to install, each with its hash. Throws `http/offline` when something would have to be fetched and may not be, and
 * `bytes/digest-mismatch` for a bundled wheel.
 */
export async function listForPip({ wheels, requirements }: Packages, request: EnvironmentRequest): Promise<readonly string[]> {
  const fetched = [...wheels.flatMap((wheel) => (wheel.kind === 'url' ? [wheel.url] : [])), ...requirements];
  if (fetched.length > 0 && request.offline === true) throw offline(request.location, fetched);
  const lines = [...requirements];
  for (const wheel of wheels) lines.push(`${await locate(wheel, request.folder)} --hash=sha256:${wheel.sha256}`);
  return lines;
}

/** Into the environment of `python`; nothing is built, and nothing is resolved. Throws `runtime/not-available` with the words of pip. */
export async function installPackages(python: string, lines: readonly string[], request: EnvironmentRequest): Promise<void> {
  const list = join(dirname(dirname(python)), 'requirements.txt');
  writeFileSync(list, `${lines.join('\n')}\n`);
  const { exit, isLate, log } = await runProgram(
    {
      command: python,
      args: [
        ...'-I -m pip install --no-deps --require-hashes --no-input --no-cache-dir'.split(' '),
        ...(request.offline === true ? ['--no-index'] : []),
        '--only-binary',
        ':all:',
        '--disable-pip-version-check',
        '-r',
        list,
      ],
      cwd: dirname(list),
      env: { ...childEnvironment(request.env, 'cpu'), ...selectSettings(request.env) },
    },
    request.timeoutMs,
    request.signal,
  );
  rmSync(list, { force: true });
  if (isLate)
    throw createError('runtime/timeout', {
      message: `Cannot install what ${JSON.stringify(request.location)} needs: pip takes longer than ${Math.round(request.timeoutMs)} ms`,
    });
  if (exit.code === 0) return;
  throw createError('runtime/not-available', {
    message: `Cannot install what ${JSON.stringify(request.location)} needs: pip ended with exit code ${exit.code ?? 'none'}`,
    hint: `It says: ${log.trim().slice(-2000).split('\n').map(escapeForDisplay).join('\n')}`,
    where: lockName,
  });
}

function selectSettings(env: EnvironmentRequest['env']): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && passedOn.test(entry[0])));
}

/** What pip is to install: a URL, of a bundled wheel that of its file once it is known to be the one that was locked. */
async function locate(wheel: Wheel, folder: string): Promise<string> {
  if (wheel.kind === 'url') return wheel.url;
  const places = [join(folder, wheel.path), join(folder, '.carton', wheel.path)];
  for (const path of places) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true) continue;
    const expected = { digest: parseDigest(`sha256:${wheel.sha256}`), size: found.size };
    await drain(verified(fromFile(path), expected, `the bundled wheel ${JSON.stringify(wheel.path)}`));
    return pathToFileURL(path).href;
  }
  throw createError('runtime/failed', {
    message: `Cannot install the bundled wheel ${JSON.stringify(wheel.path)}: it is not in the package`,
    hint: 'Lock the model again',
    where: lockName,
  });
}

function offline(location: string, wanted: readonly string[]): Error {
  const shown = wanted.slice(0, 5).map(escapeForDisplay).join(', ');
  return createError('http/offline', {
    message: `Cannot run ${JSON.stringify(location)}: ${wanted.length} packages have to be fetched, and the network is switched off: ${shown}`,
    hint: 'Run it once without --offline: what is installed is kept',
    where: lockName,
  });
}
