import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { isSystemError } from '../../../bytes/index.js';
import { createError, isJsonObject, isToolkitError, parseJson } from '../../../core/index.js';
import type { Credentials } from './auth.js';

/** A program that keeps logins in some vault, as docker's helpers do. */
export interface CredentialHelper {
  /** `docker-credential-SUFFIX` */
  readonly program: string;
  /** Undefined when it has none. `server` is a name as it was stored under. */
  get(server: string): Promise<Credentials | undefined>;
  store(server: string, username: string, secret: string): Promise<void>;
  erase(server: string): Promise<void>;
}

export interface HelperOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asked before the program is started. */
  readonly confirm?: ((program: string) => Promise<boolean>) | undefined;
  /** What it may take, in milliseconds: a person may have to unlock the vault. */
  readonly timeoutMs?: number | undefined;
}

/** The user name that says that the secret is an identity token. */
export const tokenUser = '<token>';

const defaultTimeoutMs = 30_000;
const outputBytes = 1024 * 1024;
const suffixGrammar = /^(?!.*\.\.)[A-Za-z0-9._-]+$/;
const nothingFound = /credentials not found in native keychain/i;

/**
 * The helper that a configuration file names; no shell is involved. Everything throws `registry/credentials`, which says nothing of what the
 * program wrote: its output may hold secrets.
 */
export function openCredentialHelper(suffix: unknown, file: string, options: HelperOptions): CredentialHelper {
  if (typeof suffix !== 'string' || !suffixGrammar.test(suffix)) {
    throw createError('registry/credentials', {
      message: `Cannot use the credential helper that "${file}" names: expected a plain name of letters, digits and . _ -`,
      hint: `Correct "credsStore" or "credHelpers" in "${file}"`,
      where: file,
    });
  }
  const program = `docker-credential-${suffix}`;
  const call = async (action: string, input: string) => {
    if (options.confirm !== undefined && !(await options.confirm(program))) throw failed(program, action, 'it was not allowed to start', file);
    return run(program, action, input, file, options);
  };
  return {
    program,
    get: async (server) => {
      const output = await call('get', server);
      return output === undefined ? undefined : parseOutput(output, program, file);
    },
    store: async (server, username, secret) => {
      await call('store', JSON.stringify({ ServerURL: server, Username: username, Secret: secret }));
    },
    erase: async (server) => {
      await call('erase', server);
    },
  };
}

/** What it wrote; undefined when it says that it has nothing for this server. */
async function run(program: string, action: string, input: string, file: string, options: HelperOptions): Promise<Buffer | undefined> {
  const toError = (reason: string) => failed(program, action, reason, file);
  const { code, stdout, stderr } = await new Promise<Output>((resolve, reject) => {
    try {
      exchange(spawn(program, [action], { env: options.env, windowsHide: true }), input, options, resolve, (reason) => reject(toError(reason)));
    } catch {
      reject(toError('it cannot be started'));
    }
  });
  if (code === 0) return stdout;
  if (nothingFound.test(stdout.toString()) || nothingFound.test(stderr.toString())) return undefined;
  throw toError(`it ended with ${code === null ? 'a signal' : `status ${code}`}`);
}

interface Output {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

type Child = ChildProcessWithoutNullStreams;

function exchange(child: Child, input: string, options: HelperOptions, resolve: (output: Output) => void, fail: (reason: string) => void): void {
  const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  let bytes = 0;
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const timer = setTimeout(() => giveUp(`it did not answer within ${timeoutMs / 1000} s`), timeoutMs);
  const giveUp = (reason: string) => {
    clearTimeout(timer);
    child.kill('SIGKILL');
    fail(reason);
    // What it started itself may hold them open for ever.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  };
  child.on('error', (error) => giveUp(isSystemError(error, 'ENOENT') ? 'there is no such program on the PATH' : 'it cannot be started'));
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes > outputBytes) giveUp(`it wrote more than ${outputBytes} bytes`);
      else output[name].push(chunk);
    });
  }
  child.on('close', (code) => {
    clearTimeout(timer);
    resolve({ code, stdout: Buffer.concat(output.stdout), stderr: Buffer.concat(output.stderr) });
  });
  // A program that ends without reading says why by its status.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
}

function parseOutput(bytes: Uint8Array, program: string, file: string): Credentials | undefined {
  const { Username: username, Secret: secret } = parseObject(bytes) ?? {};
  if (typeof username !== 'string' || typeof secret !== 'string') {
    throw failed(program, 'get', 'expected JSON with "Username" and "Secret", found something else', file);
  }
  if (secret === '') return undefined;
  return username === tokenUser ? { kind: 'identity-token', token: secret } : { kind: 'password', username, password: secret };
}

function parseObject(bytes: Uint8Array) {
  try {
    const value = parseJson(bytes, 'output of a credential helper', { bytes: outputBytes });
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    // It would quote what was read.
    if (isToolkitError(error, 'core/bad-json')) return undefined;
    throw error;
  }
}

function failed(program: string, action: string, reason: string, file: string): Error {
  return createError('registry/credentials', {
    message: `Cannot use the credential helper "${program}" (${action}): ${reason}`,
    hint: `Install or repair it, or take it out of "credsStore" or "credHelpers" in "${file}"`,
    where: file,
  });
}
