import { homedir } from 'node:os';
import { join } from 'node:path';
import { createError, defaultLimits, type JsonObject, type Limits } from '../../../core/index.js';
import type { Credentials, CredentialStore } from './auth.js';
import { toAuthEntry, withoutSecrets } from './auth-entry.js';
import {
  changeConfigFile,
  type ConfigFile,
  findStoredLogin,
  listHelperSuffixes,
  listLogins,
  listMatches,
  readConfigFile,
  toObject,
} from './config-file.js';
import { type CredentialHelper, openCredentialHelper, tokenUser } from './credential-helper.js';
import { listServerNames } from './host-names.js';

export interface CredentialStoreOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The person's own folder, when it is not the one of `env` or of the system. */
  readonly home?: string;
  readonly limits?: Limits;
  /** Asked before a helper that a configuration file names is started; without it they start, as they do with docker. */
  readonly confirmHelpers?: (program: string) => Promise<boolean>;
  /** How long one call of a helper may take, in milliseconds. */
  readonly helperTimeoutMs?: number;
}

/**
 * Logins as docker and podman keep them: environment, docker's file and its helpers, podman's files. New ones go where docker would put
 * them. Nothing is remembered: each call looks again.
 */
export function openCredentialStore(options: CredentialStoreOptions): CredentialStore {
  return new ConfiguredCredentials(options);
}

class ConfiguredCredentials implements CredentialStore {
  readonly #options: CredentialStoreOptions;
  readonly #limits: Limits;
  /** Docker's, which is written too, then podman's. */
  readonly #paths: readonly [string, ...string[]];

  constructor(options: CredentialStoreOptions) {
    this.#options = options;
    this.#limits = options.limits ?? defaultLimits;
    this.#paths = listPaths(options);
  }

  async find(host: string): Promise<Credentials | undefined> {
    const named = findInEnvironment(this.#options.env, host);
    if (named !== undefined) return named;
    for (const path of this.#paths) {
      const found = await this.#findInFile(await readConfigFile(path, this.#limits), host);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #findInFile(file: ConfigFile, host: string): Promise<Credentials | undefined> {
    for (const helper of this.#openHelpers(file, host)) {
      for (const server of listServerNames(host)) {
        const found = await helper.get(server);
        if (found !== undefined) return found;
      }
    }
    return findStoredLogin(file, host);
  }

  async save(host: string, credentials: Credentials): Promise<{ readonly where: string; readonly encrypted: boolean }> {
    assertStorable(host, credentials);
    const [path] = this.#paths;
    const file = await readConfigFile(path, this.#limits);
    const [helper] = this.#openHelpers(file, host);
    const [server] = listServerNames(host);
    // Helpers have no place for an access token.
    if (helper === undefined || credentials.kind === 'registry-token') {
      if (helper !== undefined) await eraseAll(helper, host);
      await this.#changeLogins((auths) => ({ ...auths, [server]: toAuthEntry(auths[server], credentials) }));
      return { where: path, encrypted: false };
    }
    if (credentials.kind === 'password') await helper.store(server, credentials.username, credentials.password);
    else await helper.store(server, tokenUser, credentials.token);
    if (listLogins(file, host).length > 0) await this.#changeLogins((auths) => withoutLogins(auths, host));
    return { where: helper.program, encrypted: true };
  }

  async remove(host: string): Promise<boolean> {
    const file = await readConfigFile(this.#paths[0], this.#limits);
    const logins = listLogins(file, host);
    const keys = logins.map(([key]) => key);
    if (keys.length > 0) await this.#changeLogins((auths) => Object.fromEntries(Object.entries(auths).filter(([key]) => !keys.includes(key))));
    let isRemoved = logins.some(([, entry]) => JSON.stringify(entry) !== '{}');
    for (const helper of this.#openHelpers(file, host)) isRemoved = (await eraseAll(helper, host)) || isRemoved;
    return isRemoved;
  }

  #openHelpers(file: ConfigFile, host: string): readonly CredentialHelper[] {
    const { env, confirmHelpers: confirm, helperTimeoutMs: timeoutMs } = this.#options;
    return listHelperSuffixes(file, host).map((suffix) => openCredentialHelper(suffix, file.path, { env, confirm, timeoutMs }));
  }

  async #changeLogins(change: (auths: JsonObject) => JsonObject): Promise<void> {
    const [path] = this.#paths;
    await changeConfigFile(path, this.#limits, (fields) => ({ ...fields, auths: change(toObject(fields['auths'], 'auths', path)) }));
  }
}

function listPaths({ env, home = env['HOME'] ?? homedir() }: CredentialStoreOptions): readonly [string, ...string[]] {
  const set = (name: string) => (env[name] === '' ? undefined : env[name]);
  const runtime = set('XDG_RUNTIME_DIR');
  const registryFile = set('REGISTRY_AUTH_FILE');
  return [
    join(set('DOCKER_CONFIG') ?? join(home, '.docker'), 'config.json'),
    ...(registryFile === undefined ? [] : [registryFile]),
    ...(runtime === undefined ? [] : [join(runtime, 'containers', 'auth.json')]),
    join(set('XDG_CONFIG_HOME') ?? join(home, '.config'), 'containers', 'auth.json'),
  ];
}

/** They count only for the hosts that are named with them, so that a password never goes to another one. */
function findInEnvironment(env: CredentialStoreOptions['env'], host: string): Credentials | undefined {
  const { MODELPORT_USERNAME: username = '', MODELPORT_PASSWORD: password = '', MODELPORT_REGISTRY: registries = '' } = env;
  if (username === '' || password === '') return undefined;
  const named = registries.split(/[\s,]+/).filter((name) => name !== '');
  if (named.length === 0) {
    throw createError('registry/credentials', {
      message: 'Cannot use MODELPORT_USERNAME and MODELPORT_PASSWORD: MODELPORT_REGISTRY does not say which registry they are for',
      hint: `Set MODELPORT_REGISTRY=${host}, or take the other two away`,
    });
  }
  return named.some((name) => listServerNames(host).includes(name.toLowerCase())) ? { kind: 'password', username, password } : undefined;
}

function withoutLogins(auths: JsonObject, host: string): JsonObject {
  return { ...auths, ...Object.fromEntries(listMatches(auths, host).map(([key, entry]) => [key, withoutSecrets(entry)])) };
}

/** Under every name that a host has. Helpers say nothing of what was not there, so they are asked first. */
async function eraseAll(helper: CredentialHelper, host: string): Promise<boolean> {
  let isErased = false;
  for (const server of listServerNames(host)) {
    if ((await helper.get(server)) === undefined) continue;
    await helper.erase(server);
    isErased = true;
  }
  return isErased;
}

function assertStorable(host: string, credentials: Credentials): void {
  if (credentials.kind !== 'password' || (credentials.username !== '' && !credentials.username.includes(':'))) return;
  throw createError('registry/credentials', {
    message: `Cannot keep the login for "${host}": expected a user name that is not empty and holds no colon`,
    hint: 'Log in again with the name of the account',
  });
}
