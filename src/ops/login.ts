import { createError, isToolkitError, parseReference } from '../core/index.js';
import type { Credentials, CredentialStore } from '../registry/client/index.js';
import type { OpsContext } from './context.js';
import { openRegistries } from './registries.js';
import type { LoginResult, LogoutResult } from './results.js';

export interface LoginOptions {
  /** `HOST[:PORT]` */
  readonly host: string;
  readonly username: string;
  /** A password, or an access token that the registry takes in its place. */
  readonly password: string;
}

/** Tries a login, and keeps it where docker keeps its own once the registry took it. */
export async function login({ host, username, password }: LoginOptions, context: OpsContext): Promise<LoginResult> {
  assertHost(host);
  const credentials: Credentials = { kind: 'password', username, password };
  const { openCredentialStore } = await import('../registry/client/index.js');
  const registries = await openRegistries(context, { credentials: only(host, credentials) });
  const { asked } = await registries
    .ping(host)
    .catch(toWrongLogin)
    .finally(() => registries.close());
  const { where, encrypted } = await openCredentialStore({ env: context.env }).save(host, credentials);
  return { host, username, where, encrypted, asked };
}

export async function logout({ host }: { readonly host: string }, context: OpsContext): Promise<LogoutResult> {
  assertHost(host);
  const { openCredentialStore } = await import('../registry/client/index.js');
  return { host, removed: await openCredentialStore({ env: context.env }).remove(host) };
}

/** To log in is no advice for somebody who just tried. */
function toWrongLogin(error: unknown): never {
  if (!isToolkitError(error, 'registry/login')) throw error;
  const hint = 'Check the user and the password; many registries want an access token in its place. Nothing was kept';
  throw createError('registry/login', { message: error.message, hint, where: error.where, cause: error });
}

/** A login that is not kept yet. */
function only(host: string, credentials: Credentials): CredentialStore {
  return {
    find: async (asked) => (asked === host ? credentials : undefined),
    save: async () => ({ where: 'nowhere', encrypted: true }),
    remove: async () => false,
  };
}

function assertHost(host: string): void {
  const isHost =
    /^[^/@\s]+$/.test(host) &&
    parseReference(`${host.includes(':') || host.includes('.') || host === 'localhost' ? host : `${host}.`}/any`).host !== undefined;
  if (isHost) return;
  throw createError('ops/bad-option', {
    message: `Cannot use "${host}" as a registry: expected a host with an optional port`,
    hint: 'Write registry.example.com or localhost:5000, without https:// and without a repository',
  });
}
