import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type UserPassword } from '../../support/registry/basic-credentials.js';
import { listen } from '../../support/registry/listen.js';
import { type TokenServer } from '../../support/registry/token-server.js';
import { makeServerCertificate, type ServerCertificate } from './certificates.js';
import { makeFolder, removeFolder } from './folders.js';
import { findTool, must, orThrow, type Outcome, type Surroundings } from './tools.js';

export type DockerRegistryAuth =
  | { readonly kind: 'none' }
  | ({ readonly kind: 'htpasswd' } & UserPassword)
  /** The server signs with the key whose certificate is `certFile`. */
  | { readonly kind: 'token'; readonly server: TokenServer; readonly certFile: string };

export interface DockerRegistryOptions {
  readonly auth?: DockerRegistryAuth;
  readonly tls?: boolean;
  /** Of an earlier registry, to go on with what it holds; it stays after `close`. */
  readonly folder?: string;
  readonly port?: number;
}

export interface DockerRegistry {
  /** `127.0.0.1:PORT` */
  readonly host: string;
  /** With scheme, without a slash at the end. */
  readonly url: string;
  /** Holds `config.yml`, `data/` and `log.txt`. */
  readonly folder: string;
  /** With `tls` only: the authority to trust. */
  readonly caFile: string | undefined;
  /** What it has printed so far. */
  readLog(): string;
  close(): Promise<void>;
}

const attempts = 5;
const startMs = 30_000;

/**
 * Docker's own registry, on loopback. It is a process of its own, but the token server, the proxies and the test registry live in this one:
 * run what talks to those with `runBeside`, as `run` stops this process until the tool has ended. Close it.
 */
export async function startDockerRegistry(options: DockerRegistryOptions = {}): Promise<DockerRegistry> {
  const folder = options.folder ?? makeFolder();
  const tls = options.tls === true ? makeServerCertificate(folder) : undefined;
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await findFreePort());
    const child = await launch(folder, toConfig(folder, port, options.auth ?? { kind: 'none' }, tls));
    const url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
    if (await answers(url, child, tls)) return toRegistry(url, folder, child, tls, options.folder === undefined);
    await end(child);
    if (attempt === attempts) throw new Error(`Cannot start docker-registry:\n${readFileSync(join(folder, 'log.txt'), 'utf8')}`);
  }
}

function toRegistry(url: string, folder: string, child: ChildProcess, tls: ServerCertificate | undefined, isOurs: boolean): DockerRegistry {
  return {
    host: new URL(url).host,
    url,
    folder,
    caFile: tls?.caFile,
    readLog: () => readFileSync(join(folder, 'log.txt'), 'utf8'),
    close: async () => {
      await end(child);
      if (isOurs) removeFolder(folder);
    },
  };
}

async function findFreePort(): Promise<number> {
  const listening = await listen(createServer());
  await listening.close();
  return listening.port;
}

/** JSON is YAML. */
function toConfig(folder: string, port: number, auth: DockerRegistryAuth, tls: ServerCertificate | undefined): string {
  const certificate = tls === undefined ? {} : { tls: { certificate: tls.certFile, key: tls.keyFile } };
  return JSON.stringify({
    version: '0.1',
    log: { level: 'info', accesslog: { disabled: false } },
    storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
    http: { addr: `127.0.0.1:${port}`, ...certificate },
    ...toAuthConfig(folder, auth),
  });
}

function toAuthConfig(folder: string, auth: DockerRegistryAuth): object {
  if (auth.kind === 'none') return {};
  if (auth.kind === 'token') {
    const { realm, service, issuer } = auth.server;
    return { auth: { token: { realm, service, issuer, rootcertbundle: auth.certFile } } };
  }
  const path = join(folder, 'htpasswd');
  // The password goes in by stdin: other processes see arguments.
  writeFileSync(path, must('htpasswd', ['-Bin', auth.user], { input: Buffer.from(auth.password) }));
  return { auth: { htpasswd: { realm: 'test', path } } };
}

async function launch(folder: string, config: string): Promise<ChildProcess> {
  mkdirSync(join(folder, 'data'), { recursive: true });
  writeFileSync(join(folder, 'config.yml'), config);
  const script = 'exec "$0" serve "$1" >>"$2" 2>&1';
  const child = spawn('/bin/sh', ['-c', script, findTool('docker-registry'), join(folder, 'config.yml'), join(folder, 'log.txt')], {
    stdio: 'ignore',
  });
  await once(child, 'spawn');
  return child;
}

/** False when it ended, or somebody else answers on the port. */
async function answers(url: string, child: ChildProcess, tls: ServerCertificate | undefined): Promise<boolean> {
  const ca = tls === undefined ? undefined : readFileSync(tls.caFile);
  for (const deadline = Date.now() + startMs; Date.now() < deadline && child.exitCode === null;) {
    const status = await ask(`${url}/v2/`, ca);
    if ((status === 200 || status === 401) && child.exitCode === null) return true;
    await pause(20);
  }
  return false;
}

function ask(url: string, ca: Buffer | undefined): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = url.startsWith('https:') ? requestTls(url, { agent: false, ca }) : request(url, { agent: false });
    sent.on('response', (response) => {
      response.on('error', () => {}).resume();
      resolve(response.statusCode);
    });
    sent.on('error', () => resolve(undefined));
    sent.end();
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Runs a program to its end while this process goes on serving. */
export async function runBeside(program: string, args: readonly string[], { cwd, env = {}, input }: Surroundings = {}): Promise<Outcome> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? -1, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() };
}

/** The same for what has to succeed; returns its stdout. */
export async function mustBeside(program: string, args: readonly string[], surroundings: Surroundings = {}): Promise<string> {
  return orThrow(program, args, await runBeside(program, args, surroundings));
}
