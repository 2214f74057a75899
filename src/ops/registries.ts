import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { escapeForDisplay, toIoError } from '../bytes/index.js';
import { type ByteCounters, createError, type Finding, isToolkitError, type Limits } from '../core/index.js';
import type { HttpClient } from '../http/index.js';
import { emptyUserConfig, readUserConfig, type RegistrySettings, type UserConfig } from '../buildfile/index.js';
import type { RegistryClient, RegistryClientOptions, TlsOptions } from '../registry/client/index.js';
import { openLocalDigests } from '../store/index.js';
import { toAbsolute } from './paths.js';

/** How registries are spoken to, and where names are looked for. Paths count from `cwd`. */
export interface NetworkOptions {
  /** `auto`: reading verbs look in the local store first, then at the registry. */
  readonly names?: 'auto' | 'local' | 'remote';
  /** Without TLS, also to hosts that are not this machine. */
  readonly plainHttp?: boolean;
  /** No certificate is checked. */
  readonly insecure?: boolean;
  /** PEM files: a certificate authority to be trusted as well, and a certificate with its key to show. */
  readonly caFile?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Asked first when something is read: `HOST[:PORT][/PREFIX]`. */
  readonly mirrors?: readonly string[];
  /** Nothing is fetched from a URL: what is not on this machine is an error. */
  readonly offline?: boolean;
}

/** What registries need of the context of a verb. */
export interface RegistryContext {
  /** The local store's folder. */
  readonly home: string;
  /** Relative paths count from here. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limits: Limits;
  readonly counters: ByteCounters;
  /** Blobs or files worked on at a time. */
  readonly concurrency: number;
  readonly network: NetworkOptions;
  /** Told what a person should hear before the work goes on, such as what a conversion loses. */
  readonly announce: (findings: readonly Finding[]) => void;
  readonly signal?: AbortSignal;
}

/** What the options and the person's own settings make of the registries; `own` takes the place of what belongs there. The room is loaded here, as most commands have no need of it. */
export async function openRegistries(
  context: RegistryContext,
  own: Partial<Pick<RegistryClientOptions, 'credentials' | 'retry'>> = {},
): Promise<RegistryClient> {
  if (context.network.offline === true) throw switchedOff('speak to a registry', 'name a package that is on this machine');
  const { createRegistryClient, openBlobPlaces, openCredentialStore, openUploadJournal } = await import('../registry/client/index.js');
  const { env, limits, counters, concurrency, network, signal, home } = context;
  const { registry } = await readSettings(context);
  const settingsOf = (host: string): RegistrySettings => ({ ...registry['*'], ...registry[host] });
  return createRegistryClient({
    env,
    limits,
    counters,
    concurrency,
    credentials: openCredentialStore({ env }),
    journal: openUploadJournal(join(home, 'cache', 'uploads')),
    places: openBlobPlaces(join(home, 'cache', 'blob-places.txt')),
    digests: openLocalDigests(home),
    isPlainHttp: (host) => network.plainHttp ?? settingsOf(host).plain_http ?? (speaksTls(network) ? false : undefined),
    tls: readTls(context),
    tokenHostsOf: (host) => settingsOf(host).token_hosts ?? [],
    mirrorsOf: (host) => network.mirrors ?? settingsOf(host).mirrors ?? [],
    ...(signal === undefined ? {} : { signal }),
    warn: createWarning(context),
    ...own,
  });
}

/** What files at URLs need of the context besides. */
export interface FileContext extends RegistryContext {
  readonly keep: (resource: { close(): Promise<void> }) => void;
}

/** By the context's own `keep`, which all contexts that are made of it have too. */
const fileClients = new WeakMap<FileContext['keep'], Promise<HttpClient>>();

function switchedOff(action: string, otherwise: string): Error {
  return createError('http/offline', { message: `Cannot ${action}: the network is switched off`, hint: `Go on without --offline, or ${otherwise}` });
}

/** For files at URLs: one for a context, which closes it. Throws `http/offline`. */
export function createFileClient(context: FileContext): Promise<HttpClient> {
  const { keep } = context;
  const client = fileClients.get(keep) ?? openFileClient(context);
  fileClients.set(keep, client);
  client.catch(() => fileClients.delete(keep));
  return client;
}

async function openFileClient(context: FileContext): Promise<HttpClient> {
  const { env, counters, network, keep } = context;
  if (network.offline === true) {
    throw switchedOff('fetch a file from a URL', 'download the file and name it');
  }
  const { createHttpClient } = await import('../http/index.js');
  const client = createHttpClient({ env, counters, tls: readTls(context) });
  keep({
    close: async () => {
      fileClients.delete(keep);
      client.close();
    },
  });
  return client;
}

/** A mistake in them is one of the person who calls, and says nothing about a package. */
async function readSettings({ env, limits }: RegistryContext): Promise<UserConfig> {
  const file = defaultConfigFile(env);
  try {
    return existsSync(file) ? await readUserConfig(file, limits) : emptyUserConfig;
  } catch (error) {
    if (!isToolkitError(error, 'buildfile/syntax') && !isToolkitError(error, 'buildfile/invalid')) throw error;
    const { message, hint = 'Correct the file, it holds your own settings for registries', where, findings } = error;
    throw createError('ops/bad-option', { message, hint, where, findings, cause: error });
  }
}

/** Whoever says how certificates are judged means TLS, on this machine too. */
function speaksTls({ caFile, cert, insecure }: NetworkOptions): boolean {
  return caFile !== undefined || cert !== undefined || insecure === true;
}

function readTls(context: RegistryContext): TlsOptions {
  const { insecure, caFile, cert, key } = context.network;
  if (insecure === true) context.announce([insecureWarning]);
  const read = (path: string) => {
    const absolute = toAbsolute(path, context);
    try {
      return readFileSync(absolute, 'utf8');
    } catch (error) {
      throw toIoError(error, 'read', absolute);
    }
  };
  return {
    ...(insecure === true ? { insecure } : {}),
    ...(caFile === undefined ? {} : { ca: read(caFile) }),
    ...(cert === undefined ? {} : { cert: read(cert) }),
    ...(key === undefined ? {} : { key: read(key) }),
  };
}

const insecureWarning: Finding = {
  level: 'warning',
  code: 'registry/insecure',
  message: 'Certificates are not checked: whoever stands between here and the registry can read the login and change what is sent',
  hint: 'Trust the authority of the registry with --ca-file FILE instead of --insecure',
};

const warningCharacters = 4096;

/** Each thing once, however often a registry says it. (distribution-spec 1.1, Warnings) */
function createWarning({ announce }: RegistryContext): (host: string, text: string) => void {
  const said = new Set<string>();
  return (host, text) => {
    const message = `${host}: ${escapeForDisplay(text.replace(/^299 - /, '').slice(0, warningCharacters))}`;
    if (said.has(message)) return;
    said.add(message);
    announce([{ level: 'warning', code: 'registry/warning', message, where: host }]);
  };
}

/** `$MODELPORT_CONFIG`, else `config.toml` in the platform's folder for settings. */
function defaultConfigFile(env: Readonly<Record<string, string | undefined>>): string {
  if (env['MODELPORT_CONFIG']) return env['MODELPORT_CONFIG'];
  const home = env['HOME'] ?? homedir();
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support', 'modelport', 'config.toml');
  if (process.platform === 'win32') return join(env['APPDATA'] ?? join(home, 'AppData', 'Roaming'), 'modelport', 'config.toml');
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'modelport', 'config.toml');
}
